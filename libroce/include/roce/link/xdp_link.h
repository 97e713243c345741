// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

/// The place where the kernel runs an XDP program.
enum class XdpMode : std::uint8_t {
  native,   ///< in the driver, before the kernel processes the frame
  generic,  ///< after the driver: works with every driver, and is slower
};

struct XdpLinkOptions {
  std::string interface;
  /// Attachment of the program; `automatic` is native, or generic if the driver cannot do that.
  enum class Mode : std::uint8_t { automatic, native, generic } mode = Mode::automatic;
  /// Send only: no program is on the interface, and received frames go to the kernel.
  /// Modes, queues and copies do not count then.
  bool sends_only = false;
  /// Number of receive queues to listen on, from the first; 0: all that the interface has.
  /// Frames that arrive on the others go to the kernel.
  unsigned queues = 0;
  /// Also receive MAC control frames (PAUSE and PFC, 0x8808).
  bool mac_control = false;
  /// A libpcap filter expression for frames that go on to the kernel: copies of the frames that match are received
  /// here too, after the frames that are ours. Empty: no copies. Otherwise as `RawLinkOptions::filter`.
  std::string copies;
  /// Also receive frames to other stations.
  bool promiscuous = false;
  /// Also receive frames to every multicast group, even to groups that the kernel of the host has not joined.
  bool all_multicast = false;
  /// Room for received frames, in bytes of locked memory, all queues together. Each queue has at least 64 places of
  /// 2048 bytes, or of 4096 if frames are longer than 1792 bytes. A frame longer than 3840 bytes takes several places.
  std::size_t ring_bytes = 32 << 20;
};

/// Set-up of an XDP link as it was opened; for a link that only sends, only `zero_copy` is meaningful.
struct XdpSetup {
  XdpMode mode = XdpMode::native;
  /// The reason why the mode is not native although that was tried; empty otherwise.
  std::string why_generic;
  unsigned queues = 0;            ///< queues that the link listens on
  unsigned interface_queues = 0;  ///< queues that the interface has
  bool zero_copy = false;         ///< the driver works in our memory, on each queue
};

/// An Ethernet interface through AF_XDP sockets (Linux Documentation/networking/af_xdp): a program of ours on
/// the interface hands over RoCE, that is UDP to port 4791 on IPv4 and IPv6 and EtherType 0x8915, behind up to two
/// VLAN tags, and MAC control if requested. All else goes on to the kernel as if there were no program, fragments
/// of IP packets too. The program is removed when the link is destroyed, or when its process ends, in whatever way.
///
/// One socket per receive queue; everything is sent through the first. If a driver takes VLAN tags
/// or checksums off the frame (rxvlan, a sender on the other end of a veth), they are not put back,
/// and super-frames, which reach a program in generic mode only, come without their segment size or not at all.
/// `RxFrame::timestamp_ns` is the time of `receive`. `receive_drops` counts frames for which the rings had no room.
///
/// `fd` also becomes readable when there is room again after `send` took fewer frames than it was given,
/// and when something happened to the interface, which `receive` and `check` then report.
///
/// Needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF on the host, which the root of a user
/// namespace does not have, and Linux 5.9; for MTUs above 3818, Linux 6.6.
class XdpLink final : public Link {
 public:
  /// Opens a link. Errors: no such interface, not Ethernet, down; no permission;
  /// a driver that cannot do the requested mode; somebody else's program on the interface; more queues than it has;
  /// frames too long for this kernel; no memory that may be locked. After an error nothing is left behind.
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
  /// Returns the interface's own address.
  [[nodiscard]] const std::array<std::byte, 6>& mac() const;

 private:
  struct State;
  explicit XdpLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
