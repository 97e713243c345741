// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "roce/transport/device.h"
#include "roce/transport/qp_attributes.h"
#include "roce/transport/verbs.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/opcode.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::conform {

/// The reason why a device refused a verb.
template <typename T>
using TargetResult = tl::expected<T, std::string>;

/// The extent of the damage when an answer did not come, by what still works.
enum class Damage : std::uint8_t {
  none,         ///< an answer came, or nobody looked
  one_qp,       ///< the device serves a new QP: at most the one of the case is stuck
  device_deaf,  ///< the agent answers, but no new QP is served
  agent_gone,   ///< the agent does not answer, and the interface is up
  no_link,      ///< the interface of the tester is down or gone
};
/// Returns `none`, `one QP`, `device deaf`, `agent gone` or `no link`.
[[nodiscard]] std::string_view to_string(Damage damage);

/// Thrown by any call to a target when the device, or the way to it, has stopped answering. The text says what was
/// asked.
class DeviceGone : public std::runtime_error {
 public:
  explicit DeviceGone(const std::string& text, Damage damage = Damage::agent_gone)
      : std::runtime_error(text), damage_(damage) {}
  [[nodiscard]] Damage damage() const { return damage_; }

 private:
  Damage damage_;
};

/// Thrown when the device, or the way to it, lacks something that the case needs. The text completes "the device
/// lacks".
class DeviceLacks : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Numbers of objects of a target.
using QpNumber = std::size_t;
using RegionNumber = std::size_t;
using WindowNumber = std::size_t;
using SrqNumber = std::size_t;

/// Completions in a CQ whose size no setup names: more than a case leaves there.
inline constexpr std::uint32_t kCqSize = 512;

/// A QP of the device, connected to one that only the tester knows. A UD QP is not connected: `peer` is the one that it
/// sends to, and neither rights nor the members of a path and of retries mean anything.
struct QpSetup {
  transport::QpType type = transport::QpType::rc;
  RoceVersion version = RoceVersion::none;  ///< of its packets; none: that of the device's own port
  transport::QpState state = transport::QpState::rts;
  std::uint32_t path_mtu = 1024;  ///< bytes
  Psn rq_psn{};                   ///< the first PSN that the device expects
  Psn sq_psn{};                   ///< the first PSN that the device sends
  Qpn peer{};                     ///< the tester's QPN
  QKey q_key{0x1234'5678};        ///< of a UD QP
  transport::Access access = transport::Access::none;
  std::uint8_t timeout = 14;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
  std::uint8_t max_rd_atomic = 4;
  std::uint8_t max_dest_rd_atomic = 4;
  bool in_other_pd = false;                        ///< in another protection domain than the other objects
  std::uint32_t pieces = 1;                        ///< that a receive may have at most
  std::optional<std::uint32_t> send_cq_size{};     ///< completions; empty: kCqSize
  std::optional<std::uint32_t> receive_cq_size{};  ///< likewise
  std::optional<SrqNumber> srq{};                  ///< where its receives come from, instead of a queue of its own
  std::optional<std::uint8_t> service_level{};     ///< the priority of what it sends; empty: the device's choice
  /// Its congestion control, as in `modify_qp` of the control protocol, where the device lets it be chosen; empty: that
  /// of the device.
  std::string congestion{};
};

/// A region of the device's memory.
struct Region {
  RegionNumber number = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< bytes
  std::uint32_t r_key = 0;
  std::uint32_t l_key = 0;
};

/// The byte in all memory before a case; cases rely on it.
inline constexpr std::byte kUntouched{0xA5};

struct RegionSetup {
  std::uint32_t length = 65536;  ///< bytes
  transport::Access access = transport::Access::none;
  bool in_other_pd = false;  ///< in another protection domain than the QPs
};

struct WindowSetup {
  transport::MwType type = transport::MwType::type2;
  bool in_other_pd = false;
};

/// The most receives that an SRQ of a case holds.
inline constexpr std::uint32_t kSrqReceives = 64;

/// The binding of a window that the device is to post.
struct BindOrder {
  std::uint64_t wr_id = 0;
  WindowNumber window = 0;
  RegionNumber region = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< bytes; 0 unbinds
  transport::Access access = transport::Access::none;
  std::uint8_t variant = 0;  ///< the low byte of the new key of a type 2 window
};

/// The arming of one of a QP's completion queues.
struct CqArming {
  bool is_receive = true;
  bool solicited_only = false;  ///< only a completion that is solicited, or an error, makes the event
};

/// A request that the device is to post; addresses are the device's.
struct SendOrder {
  transport::SendRequest request{};
  transport::Sge data{};  ///< no data if its length is 0
};

/// A frame that came from the device.
struct SeenFrame {
  Time time{};
  std::vector<std::byte> bytes;
  bool is_of_program = false;       ///< a request that the program of the QP sent, and no case expects
  std::vector<std::byte> answer{};  ///< the frame with which the target has answered it; empty: none
};

/// Returns a PSN for a random number. Half of them are near an edge, where numbers wrap and half of the window ends.
[[nodiscard]] Psn draw_psn(std::uint64_t random);

/// Addresses of the device and of the tester for the packets of one version.
struct Port {
  RoceVersion version = RoceVersion::v2_ipv4;
  MacAddress device_mac{};
  MacAddress tester_mac{};
  Gid device_gid{};
  Gid tester_gid{};
};

class CmService;

/// A device under test as the runner of a case sees it: its verbs, its memory, and the wire to it. Addresses in its
/// memory are those that RETHs hold.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  /// Returns the port of QPs that ask for no version.
  [[nodiscard]] virtual const Port& port() const = 0;
  /// Returns the port of a version; null if the device, or the way to it, has none. It lives as long as the target.
  [[nodiscard]] virtual const Port* port_of(RoceVersion version) const = 0;
  /// Returns the most bytes of data that a datagram to the device may have.
  [[nodiscard]] virtual std::uint32_t port_mtu() const = 0;
  /// Returns the speed of the device's port in bits per second, in which pauses are counted.
  [[nodiscard]] virtual std::uint64_t speed() const { return 10'000'000'000; }
  /// Returns the first of the tester's QPNs, from which a case counts up.
  [[nodiscard]] virtual Qpn first_peer() const = 0;
  /// True if the device has what a case `needs` by this name.
  [[nodiscard]] virtual bool has(std::string_view feature) const = 0;
  /// True if the QP executes requests of this kind that are right in every way.
  [[nodiscard]] virtual bool carries_out(Operation /*operation*/) const { return true; }
  /// Returns how many bytes the receives hold that the program of the QP has posted.
  [[nodiscard]] virtual std::uint64_t receive_bytes() const { return ~std::uint64_t{0}; }
  /// True if a message of the program of the QP follows each one that was delivered to it.
  [[nodiscard]] virtual bool answers_messages() const { return false; }

  // Objects.

  /// Makes a QP of a version that there is a port of. Throws DeviceLacks for a path MTU that is too large for the
  /// device or the way to it.
  [[nodiscard]] virtual TargetResult<QpNumber> create_qp(const QpSetup& setup) = 0;
  /// Returns what a QP is like that was `asked` for: a server chooses its own PSN, and what the tester's is.
  [[nodiscard]] virtual QpSetup made(QpNumber /*qp*/, const QpSetup& asked) const { return asked; }
  [[nodiscard]] virtual Qpn qpn(QpNumber qp) const = 0;
  [[nodiscard]] virtual TargetResult<Region> create_region(const RegionSetup& setup) = 0;
  virtual TargetResult<void> deregister(RegionNumber region) = 0;
  [[nodiscard]] virtual TargetResult<WindowNumber> create_window(const WindowSetup& setup) = 0;
  /// Returns the present R_Key of a window.
  [[nodiscard]] virtual std::uint32_t window_key(WindowNumber window) = 0;
  virtual TargetResult<void> destroy_window(WindowNumber window) = 0;
  [[nodiscard]] virtual TargetResult<SrqNumber> create_srq() = 0;
  /// Arms one event for when fewer than `limit` receives are left.
  virtual TargetResult<void> arm_srq(SrqNumber srq, std::uint32_t limit) = 0;
  virtual TargetResult<void> post_srq_receive(SrqNumber srq, std::uint64_t wr_id, const transport::Sge& buffer) = 0;
  virtual TargetResult<void> post_bind(QpNumber qp, const BindOrder& order) = 0;
  virtual TargetResult<void> modify(QpNumber qp, const transport::QpChange& change) = 0;
  /// Takes a QP that is in RESET to the state of `setup`, as `create_qp` does. Errors: the device refuses a change.
  virtual TargetResult<void> bring_up(QpNumber qp, const QpSetup& setup) = 0;
  [[nodiscard]] virtual transport::QpState state(QpNumber qp) = 0;
  virtual TargetResult<void> destroy_qp(QpNumber qp) = 0;
  /// Makes a UD QP a member of the group with an IP address, whose datagrams it gets from then on, or ends that.
  virtual TargetResult<void> attach(QpNumber qp, const std::string& group) = 0;
  virtual TargetResult<void> detach(QpNumber qp, const std::string& group) = 0;
  /// Arms the QP's completion queue for one event.
  virtual TargetResult<void> arm_cq(QpNumber qp, const CqArming& arming) = 0;
  /// On a UD QP, `order` goes to the tester's address, and to the QP and with the Q_Key that it names.
  virtual TargetResult<void> post_send(QpNumber qp, const SendOrder& order) = 0;
  virtual TargetResult<void> post_receive(QpNumber qp, std::uint64_t wr_id,
                                          std::span<const transport::Sge> buffers) = 0;

  // Reports of the device.

  /// Takes the oldest completion of the QP's send or receive queue that was not taken yet.
  [[nodiscard]] virtual std::optional<transport::Completion> poll(QpNumber qp, bool is_receive) = 0;
  [[nodiscard]] virtual std::optional<transport::EventType> poll_event() = 0;
  /// Returns the device's counters by their names.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> counters() = 0;

  // Memory: one stretch, in which the regions lie between bytes that nobody may change.

  /// Returns the address of the first byte of the whole stretch.
  [[nodiscard]] virtual std::uint64_t memory_address() const = 0;
  /// Returns how many bytes it has; each region makes it longer. They are kUntouched until somebody writes them.
  [[nodiscard]] virtual std::size_t memory_size() const = 0;
  /// Returns `length` bytes from `offset` of the stretch on, which has to have them.
  [[nodiscard]] virtual std::vector<std::byte> read_memory(std::size_t offset, std::size_t length) = 0;
  /// Returns the offset of the first byte of the stretch that is not as `expected` says of all of them; empty if none.
  [[nodiscard]] virtual std::optional<std::size_t> find_difference(std::span<const std::byte> expected) = 0;

  /// Returns a number that is another for each target on a wire: a device remembers for a while which communication IDs
  /// it has met.
  [[nodiscard]] virtual std::uint64_t identity() const { return 0; }
  /// Returns the device's communication manager, with connections over packets of a version. It is made when it is
  /// first asked for, and then keeps to that version. Null if the device has none.
  [[nodiscard]] virtual CmService* cm(RoceVersion /*version*/) { return nullptr; }

  // The wire.

  [[nodiscard]] virtual Time now() const = 0;
  /// True if a frame reaches nobody but the device, or may reach others.
  [[nodiscard]] virtual bool may_send(std::span<const std::byte> frame) const = 0;
  virtual void send(std::span<const std::byte> frame) = 0;
  /// Sends frames with as little time between them as the way to the device allows.
  virtual void send_burst(std::span<const std::vector<std::byte>> frames) {
    for (const std::vector<std::byte>& frame : frames) send(frame);
  }
  /// Waits until the device sends a frame, or it is `until`; empty in that case.
  [[nodiscard]] virtual std::optional<SeenFrame> receive(Time until) = 0;
  /// Returns how many frames the tester itself has lost since the target was made, for want of room.
  [[nodiscard]] virtual std::uint64_t lost_frames() const { return 0; }
};

}  // namespace roce::conform
