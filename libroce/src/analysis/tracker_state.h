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

#include "analysis/explain.h"
#include "analysis/mtu_range.h"
#include "analysis/stream.h"
#include "roce/analysis/tracker.h"

namespace roce::analysis {

struct FlowKeyHash {
  std::size_t operator()(const FlowKey& key) const { return static_cast<std::size_t>(hash_of(key)); }
};

/// Hash of flows, which are also found by their keys alone.
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

/// A REQ that waits for its REP. The two together tell which QPs are connected.
struct CmRequest {
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;
  std::uint32_t local_id = 0;
  Qpn qpn{};
  std::uint16_t path_mtu = 0;
  std::uint16_t point = 0;
};

/// A CM message that was seen, as often as it was sent.
struct CmMessage {
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;
  std::uint64_t transaction_id = 0;
  MadAttribute attribute{};
  std::uint16_t point = 0;
  std::uint32_t times = 1;  ///< how many times it was sent, as far as was seen
  Psn latest_psn{};         ///< PSN of the packet with the latest transmission
  PacketId first{};
  PacketId latest{};
  Time first_time{};
  Time latest_time{};
};

/// Everything that a tracker knows. The functions that act on it are below.
struct TrackerState {
  TrackerOptions options;
  std::unordered_set<std::unique_ptr<Flow>, FlowHash, SameFlow> flows;
  /// Flows of recent packets, indexed by a part of the hash of their keys: most packets belong to one of these.
  std::array<Flow*, 1024> recent_flows{};
  std::unordered_map<std::uint32_t, std::unique_ptr<Stream>> streams;
  std::vector<StreamSummary> closed;
  Stream* oldest = nullptr;
  Stream* newest = nullptr;
  std::uint32_t next_stream = 0;
  Evictions evictions;

  std::deque<CmRequest> cm_requests;
  std::deque<CmMessage> cm_messages;                        ///< by their first transmissions
  std::unordered_map<FlowKey, Qpn, FlowKeyHash> peer_qpns;  ///< from the CM: the QPN of the flow's other direction
  std::deque<FlowKey> peer_qpns_order;

  PacketAnalysis result;
  std::vector<Verdict> immediate;
  std::vector<Verdict> retrospective;
  std::vector<Message> messages;
  std::vector<Message> first_ends;
  std::vector<Answer> answers;

  // State of the current packet.
  const Observation* packet = nullptr;
  Rule broken = Rule::none;  ///< the rule that the packet breaks by itself
  bool is_several = false;   ///< others were, or may have been, behind it in its frame, which was cut
};

class Tracker::State : public TrackerState {};

/// A channel with its stream and its tracker: the argument of functions that act on one channel.
struct ChannelRef {
  TrackerState& state;
  Stream& stream;
  Channel& channel;
  std::uint8_t direction;  ///< in which the channel's requests go

  [[nodiscard]] const Observation& packet() const { return *state.packet; }
  [[nodiscard]] Psn wire(LongPsn psn) const { return Psn{static_cast<std::uint32_t>(psn & 0xFF'FFFF)}; }
};

/// Whether a packet is a transmission of its own or a copy of one that was seen.
enum class Sighting : std::uint8_t { transmission, copy };

// streams.cc: which stream a packet belongs to.
[[nodiscard]] Flow& flow_of(TrackerState& state, const Observation& packet);
[[nodiscard]] Flow* find_flow(TrackerState& state, const Observation& packet);
void touch(TrackerState& state, Stream& stream);
/// Closes the stream. The flow `kept`, if given, survives and then belongs to no stream.
void close_stream(TrackerState& state, Stream& stream, const Flow* kept = nullptr);
/// Gives the flow a new stream, for another connection that uses the same QP numbers.
void begin_anew(TrackerState& state, Flow& flow);

// join.cc: which two flows are the directions of one connection.
/// True if the next response of a flow without known requests is worth a search for them.
[[nodiscard]] bool may_search(const Flow& flow);
/// Looks for the requests that the current response answers; true if found, and then both flows are one stream.
bool join_by_response(TrackerState& state, Flow& flow);
void on_management(TrackerState& state);
void join_by_cm(TrackerState& state, Flow& flow);
/// Moves the flow to another connection if only that can have asked for the current response; true if it did.
bool rejoin_by_response(TrackerState& state, Flow& flow);
/// True if only the two directions of this stream can belong together: by the connection management, or by a UDP source
/// port that no other connection of these hosts has.
[[nodiscard]] bool is_surely_joined(const TrackerState& state, const Stream& stream);

// management.cc: connection management messages that are sent again.
/// Compares the current packet, if it is a CM message, with those before it. It belongs to `stream`.
void follow_management(TrackerState& state, Stream& stream);

// copies.cc: packets that the network or the capture made of others. Both report a copy.
/// True if the current packet copies the latest transmission of `request`, whose PSNs cover `psn`.
[[nodiscard]] bool is_copied_request(ChannelRef ref, Flow& flow, const Request& request, LongPsn psn);
/// True if the current packet, a response with `psn`, copies an earlier one, which was not sent again.
[[nodiscard]] bool is_copied_response(ChannelRef ref, Flow& flow, LongPsn psn);

// overtaken.cc: overtaken packets and retransmissions. The current packet is a request with the PSN `psn`.
/// True if the IP identification of the packet shows when it was sent: the sender counts them up.
[[nodiscard]] inline bool ids_show_order(const Flow& flow, const Observation& packet) {
  return flow.ip_id_varies && packet.has_ip_id;
}
/// True if identification `a` was given out before `b`.
[[nodiscard]] constexpr bool is_older_id(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::int16_t>(a - b) < 0;
}
/// Returns the longest time for which a request is believed to be overtaken.
[[nodiscard]] Duration longest_overtaken(const Channel& channel);
/// Answers whether it, newer than all requests before, was overtaken by a go-back.
[[nodiscard]] const Explanation& explain_ahead(const Channel& channel, const Flow& flow, const Observation& packet,
                                               LongPsn psn);
/// Answers whether it, another transmission of `request`, was sent again or overtaken.
[[nodiscard]] const Explanation& explain_repeated(const Channel& channel, const Flow& flow, const Request& request,
                                                  const Observation& packet, LongPsn psn);
/// Answers whether it, until now in `gap`, was sent again or overtaken.
[[nodiscard]] const Explanation& explain_missing(const Channel& channel, const Flow& flow, const Gap& gap,
                                                 const Observation& packet, LongPsn psn);

// restarts.cc: where the requester goes back, and why.
/// Returns the index of the NAK because of which `psn` is sent again: the latest for this PSN, else the latest for an
/// earlier one, which has arrived since; the number of NAKs if there is neither.
[[nodiscard]] std::size_t find_nak(const Channel& channel, LongPsn psn);
/// Begins a go-back, unless the current packet continues the one under way. `end` is the PSN after those of the packet.
const Restart& continue_restart(ChannelRef ref, LongPsn psn, LongPsn end, Time last_sent);
/// The transmission of a request before the current one, as far as it was seen.
struct Transmission {
  PacketId packet{};
  Time time{};
  bool is_acknowledged = false;  ///< the responder had acknowledged the request before it was sent again
};
void say_retransmission(ChannelRef ref, const Restart& reason, const Transmission& before);

// requests.cc: requests in PSN order.
/// Adds a gap for the PSNs before `psn` that a go-back should have sent again and that are not acknowledged.
void add_gap_of_restart(ChannelRef ref, LongPsn psn);
Sighting on_request(ChannelRef ref, Flow& flow);
[[nodiscard]] Request make_request(const TrackerState& state, LongPsn psn);
/// Forgets old requests if there is no room for one more.
void make_room(ChannelRef ref);
[[nodiscard]] std::size_t find_request(const Channel& channel, LongPsn psn);  ///< that covers `psn`; else size()
[[nodiscard]] std::size_t place_of(const Channel& channel, LongPsn psn);      ///< index of the first one after `psn`
[[nodiscard]] Gap* find_gap(RareRing<Gap>& gaps, LongPsn psn);
[[nodiscard]] Read* find_read(Channel& channel, LongPsn psn);
[[nodiscard]] LongPsn long_psn(Psn psn, LongPsn near);

// repeats.cc: requests that do not come in order.
/// Handles another packet with a PSN of `request`.
Sighting on_repeated(ChannelRef ref, Flow& flow, Request& request, LongPsn psn);
/// Handles a request that was in `gap`.
void on_missing(ChannelRef ref, Flow& flow, const Gap& gap, LongPsn psn);
/// Decides whether the packet in `Channel::filled` was sent again or only late, now that `next_request` follows it.
void settle_filled(ChannelRef ref, LongPsn next_request);

// read_spans.cc: how many PSNs a READ takes.
/// Sets the span of a READ; does nothing to other requests.
void set_read_span(ChannelRef ref, Request& request);
/// Does the same for one that was missing, as were the PSNs after it up to `end`.
void set_read_span_in(ChannelRef ref, Request& request, LongPsn end);
/// Sets the path MTU of the stream if it is unknown and `mtu` is possible, and replaces the guessed spans of READs.
void learn_mtu(Stream& stream, std::uint32_t mtu);
/// Learns the path MTU from the READ response `psn`, if it is a LAST: the packets before it have the rest of the data.
void learn_mtu_of_last(ChannelRef ref, LongPsn psn);
/// Learns from the READ response `psn` how long a READ is whose RETH was cut.
void follow_length(ChannelRef ref, LongPsn psn);
/// Corrects `next`, which may be anything up to `next_max` while a READ's span is a guess: the request `psn` decides.
void settle_guess(ChannelRef ref, LongPsn psn);
/// Shortens a READ whose span was guessed if a packet comes in its middle that is not a READ of its rest: the READ ends
/// there, and a hole was after it. True if it did.
[[nodiscard]] bool corrects_guess(ChannelRef ref, Request& read, LongPsn psn);

// responses.cc
/// The requests that the current response, which is not a copy, answers.
struct Answering {
  LongPsn psn = 0;
  bool is_news = false;        ///< it acknowledges more than any response before it
  bool has_newer_msn = false;  ///< its MSN is newer than that of an answer to later PSNs
  bool was_overtaken = false;  ///< a response to later PSNs that was seen before it was sent after it
  bool was_sent_last = false;  ///< it was sent after a response to later PSNs
  bool is_older = false;       ///< by its IP identification it was sent before a packet of its flow that was seen
  bool ids_tell = false;       ///< the IP identifications show the order of sending
  bool has_older_msn = false;  ///< its MSN is older than the newest that was seen
};
Sighting on_response(ChannelRef ref, Flow& flow);
/// Remembers a request with its own answer.
Read& add_read(ChannelRef ref, const Request& request);
/// Marks the gaps before `end` as acknowledged: those requests have reached the responder, and only the capture lacks
/// them.
void mark_arrived(ChannelRef ref, LongPsn end);
/// Notes the time from a request that was sent once to a response to it.
void note_latency(Channel& channel, Duration latency);
/// Returns the least time in which a response can follow its request. While few latencies were seen, others may be
/// shorter: then it is the `part` of the least one. 0 if there is none.
[[nodiscard]] Duration least_of_round_trip(const Channel& channel, int part);
/// Notes that the current response answers the request with `psn`.
void link_request(ChannelRef ref, LongPsn psn);
/// Marks READs and atomics before `psn` as passed by the current response.
void pass_reads(ChannelRef ref, LongPsn psn);

// naks.cc
/// Handles the current response, which is a NAK.
void on_nak(ChannelRef ref, LongPsn psn);
/// Notes that the requests up to `psn` have arrived. One that a NAK asked for was only late, or it is acknowledged
/// because it was sent again.
void note_arrival(ChannelRef ref, LongPsn psn);
/// True if `psn` is just before the first request of the channel, and the responder has acknowledged nothing: the first
/// packets of the connection may have been lost before the capture point.
[[nodiscard]] bool is_just_before(const Channel& channel, LongPsn psn);
/// Adds the gap from `psn` to the first request that was seen: the connection began with packets before it.
Gap& add_gap_before(ChannelRef ref, LongPsn psn);
/// True if the packet is a NAK for a sequence error that names a request just before the first one of the channel.
[[nodiscard]] bool names_lost_before(const Channel& channel, const Observation& packet, LongPsn psn);

// losses.cc: packets that are sent again.
/// Reports what was lost, now that the requester begins to send again.
void on_restart(ChannelRef ref, const Restart& restart);
/// Counts the one packet whose loss `verdict` reports.
void note_lost_packet(ChannelRef ref, Verdict& verdict);
/// Notes that the current packet requests the READ again, from `psn` on.
void reset_read(ChannelRef ref, Read& read, LongPsn psn);

// doubts.cc: requests that were sent again after silence.
/// Notes that the requests from `first` to `request`, which nothing answered, are sent again with the current packet.
void doubt_request(ChannelRef ref, const Request& request, LongPsn first);
/// Notes that the request which the NAK named is sent again, with the current packet or after it.
void doubt_refused(ChannelRef ref, const PendingNak& nak);
/// Counts the current packet, a request with the PSN `psn`, which may be answered.
void count_asked(ChannelRef ref, LongPsn psn);
/// Counts the current packet, a response with the PSN `psn`, and says what became of requests in doubt if it shows
/// that.
void count_answer(ChannelRef ref, LongPsn psn);
/// Says what became of all requests in doubt.
void settle_doubts(ChannelRef ref);

// held_losses.cc: losses that are held back until the packet can no longer be late.
/// Holds back the report of a loss.
void hold_loss(ChannelRef ref, const HeldLoss& held);
/// Notes that a request with `psn` came that was sent before the one in its place: it was only late. False if no loss
/// of it is held back.
bool settle_late_request(ChannelRef ref, LongPsn psn);
/// Whether a response is the one whose loss is held back.
enum class LateAnswer : std::uint8_t { no, unknown, yes };
/// Says what became of the response with the PSN of the current one, if its loss is held back. `begins`: the current
/// one is the first packet of an answer.
LateAnswer settle_late_answer(ChannelRef ref, const Answering& answering, const Read& read, bool begins);
/// Reports the response with `psn` as lost, if that is held back.
void say_held_answer(ChannelRef ref, LongPsn psn);
/// Reports the packets as lost that have been missing for too long to be late.
void settle_held(ChannelRef ref, Time now);
void settle_all_held(ChannelRef ref);

// gaps.cc: packets that were not seen.
/// Removes the PSNs from `first` to before `end`, which gap `index` has, from it. Returns the index of the next gap.
[[nodiscard]] std::size_t take_out(RareRing<Gap>& gaps, std::size_t index, LongPsn first, LongPsn end);
/// Removes `count` PSNs from `first` on from the gaps, with a verdict of `kind` for those that were in a gap.
void resolve_gap(ChannelRef ref, RareRing<Gap>& gaps, LongPsn first, std::uint32_t count, VerdictKind kind,
                 Cause cause);
/// Resolves the oldest gaps if there are too many.
void limit_gaps(ChannelRef ref);
/// Resolves the gaps that later packets have explained.
void settle(ChannelRef ref, Time now);
/// Reports the missing part of a READ's answer as missed by the capture; as unexplained if it was complete before.
void miss_answer(ChannelRef ref, Read& read);
/// Ends the channel: reports its gaps, unanswered requests and messages as they are.
void finish_channel(ChannelRef ref);

// messages.cc
/// Acknowledges the requests before `end`, up to the first READ or atomic whose answer is not complete.
void acknowledge(ChannelRef ref, LongPsn end);
void refuse_message(ChannelRef ref, LongPsn psn);
/// Adds the packets to a refused message that were under way when it was refused.
void continue_refused(ChannelRef ref);
void finish_messages(ChannelRef ref);
void walk_unanswered(ChannelRef ref, const Request& request);

// message_ends.cc
/// Takes a message that has ended, as seen here.
void end_message(ChannelRef ref, const OpenMessage& open);
/// Reports the ended messages before `end`: nothing that comes can change their ends.
void settle_messages(ChannelRef ref, LongPsn end);
/// Takes back the ends of messages that the requester sends again because no answer to them has reached it.
void reopen_messages(ChannelRef ref, const Restart& restart);
/// Notes that a response has acknowledged the requests before `end`.
void hear(Channel& channel, LongPsn end);
/// Returns the first PSN of the oldest message that was acknowledged, as seen here, though not to its requester.
[[nodiscard]] std::optional<LongPsn> oldest_awaited(const Channel& channel);
/// Takes back the ends of messages from `psn` on that were answered since `since`.
void doubt_answers(Channel& channel, LongPsn psn, Time since);
/// Ends the messages again that the responses since then have answered.
void answer_awaited(ChannelRef ref);
/// Notes that a request packet arrived, with what it holds. A packet that is larger than all that did may be too large.
void note_size_arrived(ChannelRef ref, const Request& request);
/// Counts a retransmission of a request whose message was begun or ended before.
void count_repeat(ChannelRef ref, LongPsn psn);
/// Sorts messages by their ends; those that have none come last.
void sort_by_end(std::vector<Message>& messages);
/// Adds the ended messages that are not reported yet.
void count_ended(const Channel& channel, DirectionSummary& direction);

// unanswered.cc: requests that do not get through.
/// Notes that a go-back begins with another try for its first request, which was last sent at `last_sent`.
void note_attempt(ChannelRef ref, const Restart& restart, Time last_sent);
/// Notes that an RNR NAK refuses a request.
void note_refusal(ChannelRef ref, LongPsn psn);
/// Reports the oldest request without an answer, now that nothing more comes.
void report_unanswered(ChannelRef ref);

// congestion.cc
/// Counts the current packet, which may be data, marked or not, or a CNP.
void on_congestion(TrackerState& state, const Flow& flow, Sighting sighting);
/// Adds the congestion state of `before`, which becomes direction 1 of `stream`.
void adopt_congestion(Stream& stream, const Stream& before);

// conformance.cc: which rules an end breaks.
/// Returns the rule that a packet breaks, whatever came before it.
[[nodiscard]] Rule rule_broken_by(const Observation& packet);
Verdict& say_broken(TrackerState& state, Stream& stream, Rule rule);
/// Judges the current packet, a new request.
void judge_request(ChannelRef ref, const Request& request);
/// Judges the AETH of the current packet, a response that is not a copy.
void judge_aeth(ChannelRef ref, LongPsn psn);
/// Judges the current packet, a READ response.
void judge_answer(ChannelRef ref, Read& read, LongPsn psn);
/// Judges the current packet, a CNP.
void judge_cnp(TrackerState& state, Flow& flow);

// credits.cc: end-to-end flow control.
/// Counts the current packet, a new request.
void count_credits(ChannelRef ref, const Request& request);
/// Takes the credits of the current response.
void take_credits(ChannelRef ref, const Answering& answering);

// Verdicts.
Verdict& say_now(TrackerState& state, Stream& stream, VerdictKind kind);
Verdict& say_later(TrackerState& state, Stream& stream, VerdictKind kind, PacketId about, Time time);

}  // namespace roce::analysis
