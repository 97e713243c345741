// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roce/congestion/control.h"
#include "roce/transport/address.h"
#include "roce/transport/counters.h"
#include "roce/transport/hook.h"
#include "roce/transport/profile.h"
#include "roce/transport/qp_attributes.h"
#include "roce/transport/traffic_classes.h"
#include "roce/transport/verb_error.h"
#include "roce/transport/verbs.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::transport {

/// Capacity limits of a device.
struct Limits {
  std::uint32_t max_qp = 1024;  ///< rounded up to a power of two; at most 2^22
  std::uint32_t max_cq = 65536;
  std::uint32_t max_mr = 65536;  ///< memory regions and windows together; at most 2^20
  std::uint32_t max_srq = 1024;
  std::uint32_t max_xrcd = 1024;
  std::uint32_t max_pd = 65536;
  std::uint32_t max_ah = 65536;
  std::uint32_t max_wr = 1U << 16;   ///< work requests in one queue
  std::uint32_t max_cqe = 1U << 22;  ///< completions in one CQ
  std::uint8_t max_sge = 32;
  std::uint16_t max_inline = 1024;   ///< bytes
  std::uint8_t max_rd_atomic = 128;  ///< READs and atomics of one QP, in each direction
  std::uint32_t max_groups = 256;    ///< multicast attachments
  std::uint32_t max_neighbours = 65536;
  std::uint32_t max_events = 4096;  ///< events waiting to be polled
};

/// Congestion notification (IBTA annex A17).
struct CnpConfig {
  bool enabled = true;
  Duration interval = std::chrono::microseconds{50};  ///< at most one CNP per flow in this time
  std::uint8_t dscp = 48;
  std::uint8_t priority = 6;  ///< class of the transmit scheduler, and PCP
};

/// Thresholds for one priority. A receive queue runs low once taking a receive leaves
/// `low` receives or fewer, until there are `enough` again or the queue is full.
struct ReceiveThresholds {
  std::uint32_t low = 0;
  std::uint32_t enough = 1;  ///< has to exceed `low`

  friend bool operator==(const ReceiveThresholds&, const ReceiveThresholds&) = default;
};

/// Configuration of a device and its port.
struct DeviceConfig {
  MacAddress mac{};
  std::vector<GidEntry> gids{};
  std::uint32_t port_mtu = 4096;  ///< bytes: 256, 512, 1024, 2048 or 4096
  std::vector<PKey> p_keys{kDefaultPKey};
  std::uint8_t hop_limit = 64;  ///< TTL
  SlPolicy sl_policy = SlPolicy::linux_table;
  TrafficClassPolicy traffic_class{};
  TrafficClasses traffic_classes{};
  Profile profile = hardware_like_profile();
  CnpConfig cnp{};
  /// Bits a second of the wire with preamble, FCS and gap. Congestion controls begin with it.
  std::uint64_t line_rate_bps = 100'000'000'000;
  /// Thresholds for `low_priorities`, by the priority that a QP sends with;
  /// an SRQ counts at the priority of the first QP on it to be connected. Empty: that priority is not watched.
  std::array<std::optional<ReceiveThresholds>, 8> receive_thresholds{};
  Limits limits{};
  bool check_icrc = true;          ///< false only where a wrong ICRC is deliberate: fuzzing
  std::uint8_t shard_bits = 0;     ///< number of low bits in each QPN that hold the shard, 0 … 8 (shard.h)
  std::uint8_t shard = 0;          ///< one of the 2^`shard_bits` devices of the port; only shard 0 has QP1
  bool takes_groups = false;       ///< multicast datagrams reach this device although it is not shard 0
  std::uint32_t first_qpn = 0x11;  ///< QPNs are given out from this number on
};

/// Source of random numbers: seeded in simulation, from the system in programs.
using RandomSource = std::function<std::uint64_t()>;
/// Makes the congestion control of a QP that enters RTS; null: none.
using CongestionFactory = std::function<std::unique_ptr<congestion::CongestionControl>(Qpn qp)>;

/// Capabilities of a link.
struct TxCaps {
  enum class Link : std::uint8_t {
    ethernet,   ///< whole frames without FCS
    transport,  ///< BTH through ICRC, with the rest in `TxUnit::net`: a UDP socket
  };
  Link link = Link::ethernet;
  std::size_t max_bytes = 9216;    ///< size limit of one unit
  std::uint32_t max_segments = 1;  ///< packets in one unit; always 1 for RoCE v1, which nothing segments
};

/// The output of `transmit`: one packet, or several of equal size (the last may
/// be shorter) behind one set of headers, as Linux's UDP segmentation takes them.
/// Each packet has the ICRC for the headers that it will have once it is cut out: its own lengths, and the IPv4
/// identification of the unit's headers (0 with `TxCaps::Link::transport`) plus the number of packets in front of it.
struct TxUnit {
  std::span<std::byte> bytes{};    ///< part of the caller's buffer
  std::uint32_t segment_size = 0;  ///< bytes of each packet but the last, BTH through ICRC
  std::uint32_t segments = 0;
  std::uint8_t priority = 0;     ///< class 0 … 7
  std::uint32_t flow = 0;        ///< the local QPN; packets of equal `flow` have to stay in order
  const NetMeta* net = nullptr;  ///< metadata of the first packet; valid until the next call on the device
};

/// Parameters of a memory region.
struct MrInit {
  std::span<std::byte> memory{};  ///< may be empty, but not null; has to outlive the region
  Access access = Access::local_write;
  /// Start of the region in its address space; empty: the value of the pointer. 0 with `Access::zero_based`.
  std::optional<std::uint64_t> address{};
  bool invalidatable = false;  ///< may be invalidated by LOCAL INVALIDATE and by the peer's SEND with invalidate
};

/// Parameters of an SRQ for XRC (IBTA vol. 1, annex A14).
struct XrcSrqInit {
  Pd pd{};      ///< of its receives, and of the memory that requests for it reach
  Xrcd xrcd{};  ///< only the targets in it take requests for it
  Cq cq{};      ///< where its receives complete
  std::uint32_t capacity = 1;
  std::uint8_t max_sge = 1;
};

/// Keys and range of a memory region.
struct MrInfo {
  LKey l_key{};
  RKey r_key{};
  std::uint64_t address = 0;  ///< address of its first byte
  std::uint64_t length = 0;   ///< bytes
};

enum class MwType : std::uint8_t { type1 = 1, type2 = 2 };

namespace detail {
struct DeviceState;
}

/// A RoCE port with its queue pairs: a complete transport endpoint without I/O, clock or threads.
/// Packets come in through `receive` and go out through `transmit`; the caller supplies the time.
/// All calls have to come from one thread at a time. `now` must not go backwards.
///
/// The loop of a program: `receive` the packets that came in, `advance(now)`, `transmit` until it returns 0,
/// poll the CQs and events, then wait for input or until `next_timeout()`.
///
/// After set-up (all objects made, QPs in RTS, multicast groups attached, neighbours known) no call allocates memory,
/// except `modify_qp`, `destroy_qp`, `set_hook`, `set_neighbour` and `set_gid` for a new entry, and the calls that make
/// objects.
class Device {
 public:
  /// Makes a device. Error: `invalid_argument` naming the member of `config`.
  [[nodiscard]] static VerbResult<Device> make(DeviceConfig config, RandomSource random,
                                               CongestionFactory congestion = {});
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  [[nodiscard]] const DeviceConfig& config() const;

  // Packets and time.

  /// Processes a packet that came in. Keeps no reference to the packet's bytes.
  void receive(const Packet& packet, Time now);
  /// True if the headers in front of the BTH, where present, are those of a packet for this device: its Ethernet
  /// address or that of the group the packet goes to, no tunnel, no IPv4 options or IPv6 extension headers,
  /// a right IPv4 checksum. Otherwise the packet is counted and has to be dropped. `receive` checks this itself;
  /// call it for a super-frame, whose packets are received one by one without these headers. True if not RoCE.
  [[nodiscard]] bool admits(const Packet& packet);
  /// Announces that a packet will be handed to `receive` soon, so that its QP is in the cache by then. For links
  /// that take packets in bursts: first this call for each packet, then `receive` for each. Has no other effect.
  void prefetch(const Packet& packet) const;
  /// Writes packets to send into `buffer` and describes them in `units`; returns the number of units filled.
  /// 0 means that nothing can be sent now (or that `buffer` or `caps` is too small for the next packet;
  /// a buffer of `caps.max_bytes` with `max_bytes` ≥ path MTU + 96 never is).
  [[nodiscard]] std::size_t transmit(std::span<std::byte> buffer, std::span<TxUnit> units, const TxCaps& caps,
                                     Time now);
  /// True if `transmit` would fill a unit now; paused priorities do not count,
  /// nor QPs that wait for a neighbour's address, a timer or their pace.
  [[nodiscard]] bool has_output() const;
  /// Returns the latest time for the next call of `advance`; `kNever` if no timer runs.
  [[nodiscard]] Time next_timeout() const;
  /// Lets time pass: retransmission, RNR, ACK and pacing timers.
  void advance(Time now);

  // The port.

  /// Answers a `neighbour_wanted` event, or supplies an address ahead of time.
  VerbResult<void> set_neighbour(const Gid& gid, std::optional<std::uint16_t> vlan_id, const MacAddress& mac);
  /// Stops or resumes a priority class 0 … 7 (as PFC does). Does not recall packets already handed out.
  VerbResult<void> set_paused(std::uint8_t priority, bool paused);
  /// Divides the link among the priorities in another way from now on. Shares hold where `transmit` is called for what
  /// the link takes at that time, not for more. Error: `invalid_argument` naming the member of `classes`.
  VerbResult<void> set_traffic_classes(const TrafficClasses& classes);
  /// Returns a bit mask: bit p is set if a receive queue or SRQ of priority p runs low
  /// (`DeviceConfig::receive_thresholds`), so that its senders should be held back.
  [[nodiscard]] std::uint8_t low_priorities() const;
  /// Adds or replaces a GID table entry. Error: `in_use` if a QP sends from that entry.
  /// An address handle keeps the entry that it was made with.
  VerbResult<void> set_gid(std::uint16_t index, const GidEntry& entry);

  // Objects. Each `create` fails with `no_resources` at the device's limit; each `destroy` with `in_use` while another
  // object refers to it.

  [[nodiscard]] VerbResult<Pd> create_pd();
  VerbResult<void> destroy_pd(Pd pd);

  [[nodiscard]] VerbResult<Mr> register_memory(Pd pd, const MrInit& init);
  [[nodiscard]] VerbResult<MrInfo> query_mr(Mr mr) const;
  /// Gives the region a new key variant (the low byte of both keys) and makes it valid again if it was invalidated.
  VerbResult<MrInfo> renew_key(Mr mr, std::uint8_t variant);
  /// Gives the region other memory, rights, address and PD. Its keys stay, and it is valid again if it was invalidated.
  /// Errors: those of `register_memory`; `in_use` while a window is bound to it. The region is as it was then.
  VerbResult<MrInfo> change_memory(Mr mr, Pd pd, const MrInit& init);
  /// Ends the region: packets in flight that use its keys are refused from now on.
  VerbResult<void> deregister_memory(Mr mr);

  [[nodiscard]] VerbResult<Mw> create_mw(Pd pd, MwType type);
  /// Returns the R_Key of a window; not usable until the window is bound.
  [[nodiscard]] VerbResult<RKey> query_mw(Mw mw) const;
  VerbResult<void> destroy_mw(Mw mw);

  /// Makes a CQ for `capacity` completions; one more is an overflow.
  [[nodiscard]] VerbResult<Cq> create_cq(std::uint32_t capacity);
  VerbResult<void> destroy_cq(Cq cq);
  /// Changes how many completions the CQ holds. Error: `invalid_argument` for fewer than are in it.
  VerbResult<void> resize_cq(Cq cq, std::uint32_t capacity);
  /// Takes up to `out.size()` completions, oldest first; returns their number.
  std::size_t poll_cq(Cq cq, std::span<Completion> out);
  /// Arms the CQ: the next completion (or solicited or failed one), or one not told of, makes one `cq_ready` event.
  VerbResult<void> request_notify(Cq cq, bool solicited_only);

  [[nodiscard]] VerbResult<Srq> create_srq(Pd pd, std::uint32_t capacity, std::uint8_t max_sge);
  /// One for XRC may be destroyed at any time: a message under way for it is refused then, and its receive is lost.
  VerbResult<void> destroy_srq(Srq srq);
  /// Changes how many receives the SRQ holds. Error: `invalid_argument` for fewer than are in it, or than its limit.
  VerbResult<void> resize_srq(Srq srq, std::uint32_t capacity);
  VerbResult<void> post_srq_receive(Srq srq, const ReceiveRequest& request);
  /// Arms one `srq_limit` event for when fewer than `limit` receives are left; 0 disarms.
  VerbResult<void> arm_srq_limit(Srq srq, std::uint32_t limit);

  [[nodiscard]] VerbResult<Xrcd> create_xrcd();
  VerbResult<void> destroy_xrcd(Xrcd xrcd);
  [[nodiscard]] VerbResult<Srq> create_xrc_srq(const XrcSrqInit& init);
  /// Returns the number by which an initiator names the SRQ; one that is no longer in use is given out again late.
  [[nodiscard]] VerbResult<XrcSrqn> xrc_srq_number(Srq srq) const;

  [[nodiscard]] VerbResult<Ah> create_ah(Pd pd, const AddressVector& address);
  VerbResult<void> destroy_ah(Ah ah);

  // Queue pairs.

  /// Makes a QP in RESET. QP1 is made with type `gsi`, once, in shard 0.
  [[nodiscard]] VerbResult<Qpn> create_qp(const QpInit& init);
  /// Frees the QP without completing its posted requests. Requests that it has executed are acknowledged by the next
  /// `transmit` (QP-22).
  VerbResult<void> destroy_qp(Qpn qp);
  /// Checks the whole change before making any of it.
  VerbResult<void> modify_qp(Qpn qp, const QpChange& change, Time now);
  [[nodiscard]] VerbResult<QpAttributes> query_qp(Qpn qp) const;
  /// Queues a send request. On an error nothing was queued. In ERR the request is queued and flushed at once.
  VerbResult<void> post_send(Qpn qp, const SendRequest& request);
  /// Queues a receive; allowed from INIT on.
  VerbResult<void> post_receive(Qpn qp, const ReceiveRequest& request);
  /// Lets `control` decide how fast a QP in RTS or SQD sends, from now on and until RESET, beside the rate limits that
  /// the QP has; null: nothing does.
  VerbResult<void> set_congestion_control(Qpn qp, std::unique_ptr<congestion::CongestionControl> control, Time now);
  /// Returns the state of the QP's congestion control; empty if it has none.
  [[nodiscard]] VerbResult<std::optional<congestion::Reading>> congestion_reading(Qpn qp, Time now) const;
  /// Returns the states of the congestion controls of all QPs that have one, in no order.
  [[nodiscard]] std::vector<std::pair<Qpn, congestion::Reading>> congestion_readings(Time now) const;
  /// Delivers datagrams of a multicast group to a UD QP, of shard 0 or of a device that takes groups.
  VerbResult<void> attach_multicast(Qpn qp, const Gid& group);
  VerbResult<void> detach_multicast(Qpn qp, const Gid& group);
  /// Calls `hook` until it is replaced; `nullptr` removes it. The hook has to outlive its use.
  VerbResult<void> set_hook(Qpn qp, MisbehaviourHook* hook);

  // Events and counters.

  /// Returns the oldest event not yet polled.
  [[nodiscard]] std::optional<Event> poll_event();
  /// Returns the number of events dropped because `Limits::max_events` were waiting.
  [[nodiscard]] std::uint64_t lost_events() const;
  /// Returns the sums over all QPs, past and present, and over packets that belong to none.
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] VerbResult<Counters> counters(Qpn qp) const;
  /// Returns the bytes that a QP without traffic takes, its queues included.
  [[nodiscard]] VerbResult<std::size_t> memory_of(Qpn qp) const;

 private:
  explicit Device(std::unique_ptr<detail::DeviceState> state);
  std::unique_ptr<detail::DeviceState> state_;
};

}  // namespace roce::transport
