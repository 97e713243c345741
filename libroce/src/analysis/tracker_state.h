// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/stream.h"
#include "roce/analysis/tracker.h"

namespace roce::analysis {

struct FlowKeyHash {
  std::size_t operator()(const FlowKey& key) const { return static_cast<std::size_t>(hash_of(key)); }
};

/// Of flows, which are found by their keys.
struct FlowHash : FlowKeyHash {
  using is_transparent = void;
  using FlowKeyHash::operator();
  std::size_t operator()(const std::unique_ptr<Flow>& flow) const { return (*this)(flow->key); }
};
struct SameFlow {
  using is_transparent = void;
  static const FlowKey& key_of(const FlowKey& key) { return key; }
  static const FlowKey& key_of(const std::unique_ptr<Flow>& flow) { return flow->key; }
  bool operator()(const auto& a, const auto& b) const { return key_of(a) == key_of(b); }
};

/// A REQ that waits for its REP, and what both say then: which QP belongs to which.
struct CmRequest {
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;
  std::uint32_t local_id = 0;
  Qpn qpn{};
  std::uint16_t path_mtu = 0;
};

/// Everything a tracker knows. Which functions act on it is below.
struct TrackerState {
  TrackerOptions options;
  std::unordered_set<std::unique_ptr<Flow>, FlowHash, SameFlow> flows;
  /// Flows of the latest packets, by a part of their keys' hashes: most packets are of one of these.
  std::array<Flow*, 1024> recent_flows{};
  std::unordered_map<std::uint32_t, std::unique_ptr<Stream>> streams;
  std::vector<StreamSummary> closed;
  Stream* oldest = nullptr;
  Stream* newest = nullptr;
  std::uint32_t next_stream = 0;
  Evictions evictions;

  std::deque<CmRequest> cm_requests;
  std::unordered_map<FlowKey, Qpn, FlowKeyHash> peer_qpns;  ///< known from the CM: the QPN of a flow's other direction
  std::deque<FlowKey> peer_qpns_order;

  PacketAnalysis result;
  std::vector<Verdict> immediate;
  std::vector<Verdict> retrospective;
  std::vector<Message> messages;
  std::vector<Answer> answers;

  // Of the packet under way.
  const Observation* packet = nullptr;
  Rule broken = Rule::none;  ///< that it breaks all by itself
};

class Tracker::State : public TrackerState {};

/// A channel with what belongs to it, for the functions that act on one.
struct ChannelRef {
  TrackerState& state;
  Stream& stream;
  Channel& channel;
  std::uint8_t direction;  ///< of the channel's requests

  [[nodiscard]] const Observation& packet() const { return *state.packet; }
  [[nodiscard]] Psn wire(LongPsn psn) const { return Psn{static_cast<std::uint32_t>(psn & 0xFF'FFFF)}; }
};

// streams.cc: which stream a packet belongs to.
[[nodiscard]] Flow& flow_of(TrackerState& state, const Observation& packet);
[[nodiscard]] Flow* find_flow(TrackerState& state, const Observation& packet);
void touch(TrackerState& state, Stream& stream);
/// The flow `kept`, if any, outlives the stream and belongs to none then.
void close_stream(TrackerState& state, Stream& stream, const Flow* kept = nullptr);
/// Gives the flow a stream of its own, for a connection that uses its numbers again.
void begin_anew(TrackerState& state, Flow& flow);

// join.cc: which two flows are the directions of one connection.
/// Whether the next response of a flow without requests is worth a search for them.
[[nodiscard]] bool may_search(const Flow& flow);
/// Looks for the requests that the response under way answers; on success the flow belongs to their stream.
bool join_by_response(TrackerState& state, Flow& flow);
void on_management(TrackerState& state);
void join_by_cm(TrackerState& state, Flow& flow);
/// Whether the response under way answers another connection than that of its flow: then its flow belongs to that now.
bool rejoin_by_response(TrackerState& state, Flow& flow);

/// How many PSNs a packet may fall behind others without being lost.
inline constexpr LongPsn kReordering = 8;
/// No ACK timeout in use is shorter; what is sent again sooner has a reason that was not seen (A-RTX-3).
inline constexpr Duration kLeastTimeout = std::chrono::microseconds{300};

// copies.cc: what is a copy, what was overtaken, and what was sent again.
/// Whether the packet is a copy of the request as it was last seen, not sent again by the requester (A-COPY-1).
[[nodiscard]] bool is_copy(Channel& channel, const Flow& flow, const Request& request, const Observation& packet,
                           LongPsn psn);
/// The packet under way is a copy of one that was seen at `time`. Who made it.
Cause say_copy(ChannelRef ref, Flow& flow, PacketId of, Time time);
/// Whether later packets of the flow were sent after this one; none where the identifications do not tell (A-COPY-2).
[[nodiscard]] std::optional<bool> was_overtaken(const Flow& flow, const Observation& packet);
/// Whether the packet belongs to the latest go-back and was overtaken by others of it.
[[nodiscard]] bool is_late_of_restart(const Channel& channel, const Flow& flow, const Request& request,
                                      const Observation& packet, LongPsn psn);
/// Whether a packet that comes behind its successors was sent again, or only overtaken.
[[nodiscard]] bool was_sent_again(const Channel& channel, const Flow& flow, const Gap& gap, const Observation& packet,
                                  LongPsn psn);

// restarts.cc: where the requester goes back, and why.
/// The NAK that `psn` is sent again for: one for just this PSN, or for one before it that has arrived since; the number
/// of NAKs where there is none.
[[nodiscard]] std::size_t find_nak(const Channel& channel, LongPsn psn);
/// Begins a go-back unless the packet under way goes on with the one that is; `end` is behind its PSNs.
const Restart& continue_restart(ChannelRef ref, LongPsn psn, LongPsn end, Time last_sent);
void say_retransmission(ChannelRef ref, const Restart& reason, PacketId before, Time before_time, bool spurious);

// requests.cc, responses.cc
/// What a go-back should have sent again in front of `psn` was not seen, unless it was acknowledged meanwhile.
void add_gap_of_restart(ChannelRef ref, LongPsn psn);
void on_request(ChannelRef ref, Flow& flow);
/// The request `next_request` follows a missing one that came after a NAK.
void settle_filled(ChannelRef ref, LongPsn next_request);
void on_response(ChannelRef ref, Flow& flow);
/// A READ response, or another answer of its own to a request; `psn` is that of the packet.
void on_own_answer(ChannelRef ref, LongPsn psn, bool follows);
/// What a READ's packets can be told from once the path MTU is known.
void learn_mtu(TrackerState& state, Stream& stream, std::uint32_t mtu);
void set_read_span(Channel& channel, Request& request, std::uint16_t mtu);
[[nodiscard]] std::size_t find_request(const Channel& channel, LongPsn psn);  ///< covering; size() when there is none
[[nodiscard]] Gap* find_gap(RareRing<Gap>& gaps, LongPsn psn);
[[nodiscard]] Read* find_read(Channel& channel, LongPsn psn);
[[nodiscard]] LongPsn long_psn(const Channel& channel, Psn psn, LongPsn near);
/// `is_original`: the request is not the rest of a READ that was not seen.
void add_read(ChannelRef ref, const Request& request, bool is_original);

// losses.cc: what became of what was missing.
/// The requester begins to send again.
void on_restart(ChannelRef ref, const Restart& restart);
/// The PSNs `first` … are known to have ended as `kind`; they leave the gaps.
void resolve_gap(ChannelRef ref, RareRing<Gap>& gaps, LongPsn first, std::uint32_t count, VerdictKind kind,
                 Cause cause);
/// Resolves the oldest gaps where there are too many.
void limit_gaps(ChannelRef ref);
/// Resolves the gaps that later packets have explained.
void settle(ChannelRef ref, Time now);
/// What is missing of a READ's answer was there; only the capture does not have it.
void miss_answer(ChannelRef ref, Read& read);
/// The READ is asked for again from `psn` on.
void reset_read(Channel& channel, Read& read, LongPsn psn, const Observation& packet);
/// The end of what can be known.
void finish_channel(ChannelRef ref);

// messages.cc
/// Acknowledges what precedes `end`, as far as it needs no answer of its own.
void acknowledge(ChannelRef ref, LongPsn end);
void refuse_message(ChannelRef ref, LongPsn psn);
void finish_messages(ChannelRef ref);
void walk_unanswered(ChannelRef ref, const Request& request);

// congestion.cc
/// The packet under way may be data, marked or not, or a CNP.
void on_congestion(TrackerState& state, const Flow& flow);
/// `before` becomes direction 1 of `stream`.
void adopt_congestion(Stream& stream, const Stream& before);

// conformance.cc: which rules an end breaks.
/// Whether nothing but the two directions of the stream can belong together: by the connection management, or by a UDP
/// source port that no other connection of these hosts has.
[[nodiscard]] bool is_surely_joined(const TrackerState& state, const Stream& stream);
/// The rule that a packet breaks whatever came before it.
[[nodiscard]] Rule rule_broken_by(const Observation& packet);
Verdict& say_broken(TrackerState& state, Stream& stream, Rule rule);
/// The packet under way is a new request.
void judge_request(ChannelRef ref, const Request& request);
/// The packet under way is a response, and no copy.
void judge_aeth(ChannelRef ref, LongPsn psn);
/// The packet under way is a READ response.
void judge_answer(ChannelRef ref, Read& read, LongPsn psn);
/// The packet under way is a CNP.
void judge_cnp(TrackerState& state, Flow& flow);

// credits.cc: end-to-end flow control.
/// The packet under way is a new request.
void count_credits(ChannelRef ref, const Request& request);
/// The packet under way is a response, and no copy; `is_news`: it acknowledges what none did before.
void take_credits(ChannelRef ref, LongPsn psn, bool is_news);

// Verdicts.
Verdict& say_now(TrackerState& state, Stream& stream, VerdictKind kind);
Verdict& say_later(TrackerState& state, Stream& stream, VerdictKind kind, PacketId about, Time time);

}  // namespace roce::analysis
