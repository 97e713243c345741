// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

/// Where the kernel runs an XDP program.
enum class XdpMode : std::uint8_t {
  native,   ///< in the driver, before the kernel makes anything of the frame
  generic,  ///< behind the driver: with every driver, and slower
};

struct XdpLinkOptions {
  std::string interface;
  /// How the program is to be attached; `automatic` is native, and generic where the driver cannot.
  enum class Mode : std::uint8_t { automatic, native, generic } mode = Mode::automatic;
  /// Nothing is received: no program is on the interface, and what comes in goes to the kernel. Modes, queues and
  /// copies do not count then.
  bool sends_only = false;
  /// Receive queues to listen on, the first ones; 0: all that the interface has. What arrives on the others goes to the
  /// kernel.
  unsigned queues = 0;
  /// MAC control (PAUSE and PFC, 0x8808) too.
  bool mac_control = false;
  /// A libpcap filter expression: of frames that go on to the kernel, those of which there are copies here too, after
  /// the frames that are ours. Empty: none. As `RawLinkOptions::filter`.
  std::string copies;
  /// Frames to other stations too.
  bool promiscuous = false;
  /// Frames to every multicast group too, also where the kernel of the host is in none of them.
  bool all_multicast = false;
  /// Room for received frames, in bytes of memory that stays locked, all queues together. A queue has 64 places at
  /// least, of 2048 bytes or where frames are longer than 1792 bytes of 4096. Longer ones than 3840 take several.
  std::size_t ring_bytes = 32 << 20;
};

/// What an XDP link found when it was opened; of one that sends only `zero_copy` alone says something.
struct XdpSetup {
  XdpMode mode = XdpMode::native;
  /// Why it is not native although that was tried; empty otherwise.
  std::string why_generic;
  unsigned queues = 0;            ///< on which it listens
  unsigned interface_queues = 0;  ///< that the interface has
  bool zero_copy = false;         ///< the driver works in our memory, on each queue
};

/// An Ethernet interface through AF_XDP sockets (Linux Documentation/networking/af_xdp): a program of ours on the
/// interface hands over RoCE, that is UDP to port 4791 on IPv4 and IPv6 and Ethertype 0x8915, behind up to two VLAN
/// tags, and MAC control if that is asked for. All else goes on to the kernel as if there were no program, fragments of
/// IP packets too. The program goes when the link goes, or its process, however that ends.
///
/// One socket a receive queue; everything is sent through the first. A driver that takes VLAN tags or checksums off the
/// frame (rxvlan, a sender on the other end of a veth) does not put them back, and super-frames, which
/// reach a program in generic mode only, come without their segment size or not at all. `RxFrame::timestamp_ns` is the
/// time of `receive`. `receive_drops` are frames for which the rings had no room.
///
/// `fd` becomes readable also when there is room again after `send` took fewer than it was given, and when something
/// happened to the interface, which `receive` and `check` then tell.
///
/// Needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF on the host, which the root of a user namespace does not have, and
/// Linux 5.9, for MTUs above 3818 Linux 6.6.
class XdpLink final : public Link {
 public:
  /// Errors: no such interface, not an Ethernet, down; no permission; a driver that cannot do the mode that was asked
  /// for; a program of somebody else on the interface; more queues than it has; frames too long for this kernel; no
  /// memory that may be locked. Nothing is left behind then.
  [[nodiscard]] static LinkResult<std::unique_ptr<XdpLink>> open(const XdpLinkOptions& options);
  ~XdpLink() override;

  [[nodiscard]] LinkKind kind() const override { return LinkKind::ethernet; }
  [[nodiscard]] std::size_t max_bytes() const override;
  [[nodiscard]] LinkResult<std::size_t> receive(std::span<RxFrame> frames) override;
  [[nodiscard]] LinkResult<std::size_t> send(std::span<const TxFrame> frames) override;
  [[nodiscard]] int fd() const override;
  [[nodiscard]] LinkResult<void> check() override;
  [[nodiscard]] LinkCounters counters() const override;

  [[nodiscard]] const XdpSetup& setup() const;
  /// The interface's own address.
  [[nodiscard]] const std::array<std::byte, 6>& mac() const;

 private:
  struct State;
  explicit XdpLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
