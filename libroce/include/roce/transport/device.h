// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "roce/transport/address.h"
#include "roce/transport/counters.h"
#include "roce/transport/hook.h"
#include "roce/transport/pacing.h"
#include "roce/transport/profile.h"
#include "roce/transport/qp_attributes.h"
#include "roce/transport/verb_error.h"
#include "roce/transport/verbs.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::transport {

/// How many of everything a device may have.
struct Limits {
  std::uint32_t max_qp = 1024;  ///< rounded up to a power of two; at most 2^22
  std::uint32_t max_cq = 65536;
  std::uint32_t max_mr = 65536;  ///< regions and windows together; at most 2^20
  std::uint32_t max_srq = 1024;
  std::uint32_t max_pd = 65536;
  std::uint32_t max_ah = 65536;
  std::uint32_t max_wr = 1U << 16;   ///< of one queue
  std::uint32_t max_cqe = 1U << 22;  ///< of one CQ
  std::uint8_t max_sge = 32;
  std::uint16_t max_inline = 1024;   ///< bytes
  std::uint8_t max_rd_atomic = 128;  ///< of one QP and direction
  std::uint32_t max_groups = 256;    ///< multicast attachments
  std::uint32_t max_neighbours = 65536;
  std::uint32_t max_events = 4096;  ///< waiting to be polled
};

/// Congestion notification (IBTA annex A17).
struct CnpConfig {
  bool enabled = true;
  Duration interval = std::chrono::microseconds{50};  ///< at most one CNP per flow in this time
  std::uint8_t dscp = 48;
  std::uint8_t priority = 6;  ///< class of the transmit scheduler, and PCP
};

/// When a receive queue of a priority runs low: once `low` or fewer receives are left of those that were there, until
/// `enough` are there again or the queue is full.
struct ReceiveThresholds {
  std::uint32_t low = 0;
  std::uint32_t enough = 1;  ///< more than `low`

  friend bool operator==(const ReceiveThresholds&, const ReceiveThresholds&) = default;
};

/// A port and what stands behind it.
struct DeviceConfig {
  MacAddress mac{};
  std::vector<GidEntry> gids{};
  std::uint32_t port_mtu = 4096;  ///< bytes: 256, 512, 1024, 2048 or 4096
  std::vector<PKey> p_keys{kDefaultPKey};
  std::uint8_t hop_limit = 64;  ///< TTL
  SlPolicy sl_policy = SlPolicy::linux_table;
  TrafficClassPolicy traffic_class{};
  Profile profile = hardware_like_profile();
  CnpConfig cnp{};
  /// By the priority that a QP sends with, for `low_priorities`; an SRQ counts with the first QP on it that is
  /// connected. None: nobody asks.
  std::array<std::optional<ReceiveThresholds>, 8> receive_thresholds{};
  Limits limits{};
  bool check_icrc = true;       ///< false only where packets come with a wrong ICRC on purpose: fuzzing
  std::uint8_t shard_bits = 0;  ///< low bits of each QPN that hold the shard number, 0 … 8 (shard.h)
  std::uint8_t shard = 0;       ///< one of 2^`shard_bits` devices behind the port; only shard 0 has QP1 and multicast
  std::uint32_t first_qpn = 0x11;  ///< where QPNs begin to be given out
};

/// Where random numbers come from: seeded in simulation, from the system in programs.
using RandomSource = std::function<std::uint64_t()>;
/// Makes the rate limiter of a QP that goes to RTS, or whose rate limit is set to `rate_limit_bps` (0: none).
using RateLimiterFactory = std::function<std::unique_ptr<RateLimiter>(std::uint64_t rate_limit_bps)>;

/// What a link takes.
struct TxCaps {
  enum class Link : std::uint8_t {
    ethernet,   ///< whole frames without FCS
    transport,  ///< BTH through ICRC, the rest is in `TxUnit::net`: a UDP socket
  };
  Link link = Link::ethernet;
  std::size_t max_bytes = 9216;    ///< of one unit
  std::uint32_t max_segments = 1;  ///< packets of one unit; RoCE v1, which nobody cuts, has one always
};

/// What `transmit` filled: one packet, or several of equal size (the last may be shorter) behind one set of headers, as
/// Linux's UDP segmentation takes them. The ICRC of each is for the headers that it will have of its own: its lengths,
/// and the IPv4 identification of the unit's headers (0 with `TxCaps::Link::transport`) and as many as packets are in
/// front of it.
struct TxUnit {
  std::span<std::byte> bytes{};    ///< inside the caller's buffer
  std::uint32_t segment_size = 0;  ///< BTH through ICRC of each packet but the last
  std::uint32_t segments = 0;
  std::uint8_t priority = 0;     ///< class 0 … 7
  std::uint32_t flow = 0;        ///< equal for packets that have to stay in order: the local QPN
  const NetMeta* net = nullptr;  ///< of the first packet; valid until the next call on the device
};

/// A memory region's making.
struct MrInit {
  std::span<std::byte> memory{};  ///< has to outlive the region
  Access access = Access::local_write;
  /// Where the region begins in its address space; the pointer's value if not given. 0 with `Access::zero_based`.
  std::optional<std::uint64_t> address{};
  bool invalidatable = false;  ///< may be invalidated by LOCAL INVALIDATE and by the peer's SEND with invalidate
};

/// A region's names.
struct MrInfo {
  LKey l_key{};
  RKey r_key{};
  std::uint64_t address = 0;  ///< of its first byte
  std::uint64_t length = 0;   ///< bytes
};

enum class MwType : std::uint8_t { type1 = 1, type2 = 2 };

namespace detail {
struct DeviceState;
}

/// A RoCE port with its queue pairs: a complete transport endpoint without I/O, clock or threads. Packets come in by
/// `receive`, go out by `transmit`; what time it is, the caller says. All calls are to be made from one thread at a
/// time. `now` must not go back.
///
/// The loop of a program is: `receive` what came, `advance(now)`, `transmit` until it returns 0, poll the CQs and
/// events, wait until something comes or it is `next_timeout()`.
///
/// After set-up (all objects made, QPs in RTS, multicast groups attached, neighbours known) no call allocates memory,
/// except `modify_qp`, `set_hook`, `set_neighbour` and `set_gid` for an entry that is new, and those that make objects.
class Device {
 public:
  /// Error: `invalid_argument` naming the member of `config`.
  [[nodiscard]] static VerbResult<Device> make(DeviceConfig config, RandomSource random,
                                               RateLimiterFactory limiters = {});
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  [[nodiscard]] const DeviceConfig& config() const;

  // Packets and time.

  /// Takes a packet that came in. What it refers to is not kept.
  void receive(const Packet& packet, Time now);
  /// Whether the headers in front of the BTH, where the packet has them, are those of a packet for this device: its
  /// Ethernet address or that of the group it goes to, no tunnel, no IPv4 options or IPv6 extension headers, a right
  /// IPv4 checksum. If not, it is counted, and has to be dropped. `receive` asks by itself; ask for a super-frame,
  /// whose packets come one by one without these headers. True for what is not RoCE.
  [[nodiscard]] bool admits(const Packet& packet);
  /// Says that a packet will be handed to `receive` soon, so that its QP is in the cache by then. For links that take
  /// packets in bursts: first this for each, then `receive` for each. Has no other effect.
  void prefetch(const Packet& packet) const;
  /// Writes what is to be sent into `buffer`, and describes it in `units`; returns how many units were filled. 0 means
  /// that nothing can be sent now (or that `buffer` or `caps` is too small for the next packet; a buffer of
  /// `caps.max_bytes` with `max_bytes` ≥ path MTU + 96 never is).
  [[nodiscard]] std::size_t transmit(std::span<std::byte> buffer, std::span<TxUnit> units, const TxCaps& caps,
                                     Time now);
  /// Whether `transmit` would fill something now: not counting paused priorities, QPs that wait for a neighbour's
  /// address, a timer or their pace.
  [[nodiscard]] bool has_output() const;
  /// When `advance` has to be called at the latest; `kNever` without any timer.
  [[nodiscard]] Time next_timeout() const;
  /// Lets time pass: retransmission, RNR, ACK and pacing timers.
  void advance(Time now);

  // The port.

  /// Answers a `neighbour_wanted` event, or tells an address ahead of time.
  VerbResult<void> set_neighbour(const Gid& gid, std::optional<std::uint16_t> vlan_id, const MacAddress& mac);
  /// Stops or resumes a priority class 0 … 7 (as PFC does). Packets already handed out are not called back.
  VerbResult<void> set_paused(std::uint8_t priority, bool paused);
  /// Bit p: a receive queue or SRQ of priority p runs low (`DeviceConfig::receive_thresholds`), so that who sends to it
  /// should be held back.
  [[nodiscard]] std::uint8_t low_priorities() const;
  /// Adds or replaces a GID table entry. Error: `in_use` when a QP sends from it. An address handle keeps the entry it
  /// was made with.
  VerbResult<void> set_gid(std::uint16_t index, const GidEntry& entry);

  // Objects. Each `create` fails with `no_resources` at the device's limit; each `destroy` with `in_use` while another
  // object refers to it.

  [[nodiscard]] VerbResult<Pd> create_pd();
  VerbResult<void> destroy_pd(Pd pd);

  [[nodiscard]] VerbResult<Mr> register_memory(Pd pd, const MrInit& init);
  [[nodiscard]] VerbResult<MrInfo> query_mr(Mr mr) const;
  /// Gives the region a new key variant (the low byte of both keys) and makes it valid again if it was invalidated.
  VerbResult<MrInfo> renew_key(Mr mr, std::uint8_t variant);
  /// Packets in flight that use its keys are refused from now on.
  VerbResult<void> deregister_memory(Mr mr);

  [[nodiscard]] VerbResult<Mw> create_mw(Pd pd, MwType type);
  /// The R_Key of a window: of no use until it is bound.
  [[nodiscard]] VerbResult<RKey> query_mw(Mw mw) const;
  VerbResult<void> destroy_mw(Mw mw);

  /// `capacity` completions; one more is an overflow.
  [[nodiscard]] VerbResult<Cq> create_cq(std::uint32_t capacity);
  VerbResult<void> destroy_cq(Cq cq);
  /// Takes up to `out.size()` completions, oldest first; returns how many.
  std::size_t poll_cq(Cq cq, std::span<Completion> out);
  /// The next completion (or the next solicited or failed one) makes an event `cq_ready`, once.
  VerbResult<void> request_notify(Cq cq, bool solicited_only);

  [[nodiscard]] VerbResult<Srq> create_srq(Pd pd, std::uint32_t capacity, std::uint8_t max_sge);
  VerbResult<void> destroy_srq(Srq srq);
  VerbResult<void> post_srq_receive(Srq srq, const ReceiveRequest& request);
  /// An event `srq_limit` once fewer than `limit` receives are left; 0: none.
  VerbResult<void> arm_srq_limit(Srq srq, std::uint32_t limit);

  [[nodiscard]] VerbResult<Ah> create_ah(Pd pd, const AddressVector& address);
  VerbResult<void> destroy_ah(Ah ah);

  // Queue pairs.

  /// A QP in RESET. QP1 is made by type `gsi`, once, in shard 0.
  [[nodiscard]] VerbResult<Qpn> create_qp(const QpInit& init);
  /// Frees the QP without completing what was posted.
  VerbResult<void> destroy_qp(Qpn qp);
  /// Checks the whole change before making any of it.
  VerbResult<void> modify_qp(Qpn qp, const QpChange& change, Time now);
  [[nodiscard]] VerbResult<QpAttributes> query_qp(Qpn qp) const;
  /// Queues a send request. Error: nothing was queued. In ERR it is queued and flushed at once.
  VerbResult<void> post_send(Qpn qp, const SendRequest& request);
  /// Queues a receive; from INIT on.
  VerbResult<void> post_receive(Qpn qp, const ReceiveRequest& request);
  /// Delivers datagrams of a multicast group to a UD QP of shard 0.
  VerbResult<void> attach_multicast(Qpn qp, const Gid& group);
  VerbResult<void> detach_multicast(Qpn qp, const Gid& group);
  /// `hook` is called until it is replaced; `nullptr` removes it. It has to outlive its use.
  VerbResult<void> set_hook(Qpn qp, MisbehaviourHook* hook);

  // What happened.

  /// The oldest event not yet polled.
  [[nodiscard]] std::optional<Event> poll_event();
  /// Events dropped because `Limits::max_events` were waiting.
  [[nodiscard]] std::uint64_t lost_events() const;
  /// Of all QPs that are and were, and of packets that belong to none.
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] VerbResult<Counters> counters(Qpn qp) const;
  /// Bytes that a QP without traffic takes, its queues included.
  [[nodiscard]] VerbResult<std::size_t> memory_of(Qpn qp) const;

 private:
  explicit Device(std::unique_ptr<detail::DeviceState> state);
  std::unique_ptr<detail::DeviceState> state_;
};

}  // namespace roce::transport
