// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/answer_follower.h"
#include "analysis/ring.h"
#include "roce/analysis/lazy.h"
#include "roce/analysis/observation.h"
#include "roce/analysis/stream_summary.h"
#include "roce/analysis/verdict.h"

namespace roce::analysis {

/// True for a READ or atomic, of whose answer something follows.
[[nodiscard]] bool needs_own_answer(Operation operation);

/// A request packet that was seen.
struct Request {
  LongPsn psn = 0;
  PacketId first{};  ///< the first packet with it
  PacketId last{};   ///< the latest packet with it
  Time first_time{};
  Time last_time{};
  Time previous_time{};      ///< time of the transmission before the latest
  std::uint32_t span = 1;    ///< PSNs that it takes: 1, or for a READ the packets of its answer
  std::uint32_t icrc = 0;    ///< that of the latest transmission
  std::uint32_t length = 0;  ///< bytes of payload; of data that a READ asks for; of the message that a WRITE begins
  std::uint16_t payload = 0;
  Opcode opcode{};
  std::uint16_t first_ip_id = 0;  ///< the oldest IPv4 identification of its transmissions that were seen
  std::uint16_t last_ip_id = 0;   ///< the newest
  std::uint8_t transmissions = 1;
  std::uint8_t hop_limit = 0;
  bool has_icrc = false;
  bool asks_for_ack = false;
  bool acknowledged = false;   ///< by an ACK or its own answer, as seen here
  bool came_late = false;      ///< when it was seen last, it came after its successors
  bool span_is_guess = false;  ///< a READ while the path MTU or its length is unknown: `span` is the least it can be
  bool lacks_length = false;   ///< a READ whose RETH was cut, until the end of its answer shows how long it is; or
                               ///< `is_several`
  bool is_cut = false;         ///< `icrc` is a digest of the headers, which compares only with others of its kind
  bool is_several = false;     ///< the first of an unknown number of requests in a frame that was cut

  [[nodiscard]] LongPsn end() const { return psn + span; }
  [[nodiscard]] std::uint32_t sure_span() const { return lacks_length ? 1 : span; }
  [[nodiscard]] const OpcodeInfo& info() const { return opcode_info(opcode); }
  /// True for a READ or atomic that came alone in its frame.
  [[nodiscard]] bool needs_own_answer() const;
};

/// A range of PSNs that were not seen.
struct Gap {
  LongPsn first = 0;
  std::uint32_t count = 0;
  PacketId revealed_by{};
  Time revealed_at{};
  PacketId nak{};  ///< the NAK for its first PSN
  Time nak_time{};
  bool of_restart = false;     ///< the PSNs were seen earlier and are missing from a go-back
  PacketId acknowledged_by{};  ///< a response that shows that the responder had received them
  Time acknowledged_at{};

  [[nodiscard]] LongPsn end() const { return first + count; }
  [[nodiscard]] bool covers(LongPsn psn) const { return psn >= first && psn < end(); }
};

/// A response packet that was seen.
struct Response {
  LongPsn psn = 0;
  PacketId packet{};
  Time time{};
  std::uint32_t icrc = 0;
  AethSyndrome syndrome{};
  Opcode opcode{};
  bool has_icrc = false;
  bool is_lost = false;  ///< known not to have reached the requester
};

/// A READ or atomic that waits for its answer, or was answered recently.
struct Read {
  LongPsn psn = 0;
  std::uint32_t span = 1;
  PacketId request{};  ///< the latest request for it
  Time request_time{};
  PacketId passed_by{};  ///< with `answer.passed`: the response to later PSNs
  Time passed_at{};
  std::uint32_t length = 0;   ///< bytes that a READ asks for
  std::uint16_t payload = 0;  ///< bytes in a FIRST or MIDDLE packet of its answer; 0 until one was seen
  bool is_sure = false;       ///< it is a READ, and nothing has contradicted `length` so far
  bool is_original = false;   ///< it begins at `psn`: it is not the rest of a READ that was not seen
  bool lacks_length = false;  ///< its RETH was cut, and the end of its answer was not seen so far: it may end sooner
  AnswerFollower answer;

  [[nodiscard]] LongPsn end() const { return psn + span; }
  /// Of `count` PSNs that are said to be missing, those that certainly are its own.
  [[nodiscard]] std::uint32_t sure_psns(LongPsn count) const {
    return lacks_length ? 1 : static_cast<std::uint32_t>(count);
  }
};

/// A go-back of the requester that is under way: everything from some PSN on is sent again.
struct Restart {
  bool active = false;
  Cause cause = Cause::none;
  bool was_silent = false;        ///< before its begin, since `reason` if there is one, the ACK timeout ran out
  Cause before = Cause::unknown;  ///< the cause of the go-back that this one interrupted
  std::uint16_t begin_ip_id = 0;  ///< the IPv4 identification of its first packet
  LongPsn first = 0;
  LongPsn next = 0;
  LongPsn jump_from = 0;  ///< its latest packet left out the PSNs from here to before `jump_to`
  LongPsn jump_to = 0;
  Time begin{};
  Time latest{};          ///< time of its newest packet
  bool answered = false;  ///< a response to `first` or a later PSN was seen since it began
  LongPsn asked_for = 0;  ///< the PSN that its reason asked for; `first` if there is no reason
  PacketId reason{};
  Time reason_time{};
  PacketId begun_by{};          ///< its first packet
  std::uint32_t packets = 0;    ///< how many packets of it were seen
  LongPsn interrupted = 0;      ///< the PSN that the requester would have sent next, had it not gone back
  LongPsn provoked_before = 0;  ///< that of the NAK which is its reason; 0 if there is none
  LongPsn stray = 0;            ///< a new PSN far ahead of it that was seen while it was under way; 0 if there is none

  // A-ORD-2 (after the silence of an ACK timeout, the requester goes back because of that)
  [[nodiscard]] Cause likely_cause() const { return was_silent ? Cause::timeout : cause; }
  // A-ORD-5 (without that silence, a timeout is only the cause that is left)
  [[nodiscard]] Cause shown_cause() const {
    return likely_cause() == Cause::timeout && !was_silent ? Cause::unknown : likely_cause();
  }
};

/// State after one request packet, by which the next one is judged.
struct RequestOrder {
  bool is_known = false;
  bool is_open = false;    ///< the packet is inside a message
  bool has_left = false;   ///< every packet of the open WRITE was seen, so that `left` is known
  Operation operation{};   ///< that of the open message
  std::uint16_t mtu = 0;   ///< payload bytes of the open message's FIRST and MIDDLE packets; 0 if unknown
  std::uint32_t left = 0;  ///< bytes of the WRITE that are still to come
  LongPsn next = 0;        ///< the PSN after it
};

/// The newest AETH that was seen.
struct LatestAeth {
  bool is_known = false;
  bool is_sequence_error = false;
  std::uint16_t ip_id = 0;
  Msn msn{};
  LongPsn psn = 0;
  PacketId packet{};
  Time time{};
};

/// End-to-end flow control. Messages are numbered as the responder's MSN counts them.
struct Credits {
  bool knows_sent = false;
  bool knows_limit = false;
  bool are_ignored = false;  ///< the requester sends more than they allow
  bool is_stalled = false;   ///< `probe` is under way, and the requester may send nothing more
  bool was_refused = false;  ///< the probe was refused by an RNR NAK
  Msn sent{};                ///< number of the newest message
  Msn limit{};               ///< number of the newest message that may be sent; one more may follow as a probe
  LongPsn probe = 0;
  PacketId packet{};  ///< the packet of the probe
  Time since{};
};

/// A NAK (sequence error or RNR) that the requester has not reacted to yet.
struct PendingNak {
  bool arrived_late = false;  ///< what it asked for was acknowledged without being sent again: it was only late
  Time arrived_at{};          ///< with `arrived_late`: time of that acknowledgement
  LongPsn psn = 0;
  PacketId packet{};
  Time time{};
  Duration wait{};                ///< the wait that an RNR NAK asks for
  bool suspect_is_first = false;  ///< the suspect was the first transmission of its PSN
  PacketId suspect{};             ///< the transmission that did not arrive in time, if it was seen
  Time suspect_time{};
  LongPsn provoked_before = 0;  ///< the PSN after the newest request at that time: one before it provoked the NAK
};

/// A request packet that was seen with a wrong ICRC.
struct Corrupted {
  LongPsn psn = 0;
  PacketId packet{};
};

/// A missing request that came after a NAK for it: sent again, or overtaken and late. The next request shows which.
struct Filled {
  bool active = false;
  LongPsn first = 0;
  std::uint32_t count = 0;
  Cause cause = Cause::none;
  PendingNak nak;
};

/// A message of the requester, as far as its packets have been processed in PSN order.
struct OpenMessage {
  bool active = false;
  bool is_refused = false;  ///< by an error NAK: packets of it may still come
  Operation operation{};
  std::uint32_t length = 0;  ///< bytes of the WRITE that it is, as its RETH states; otherwise 0
  Message message{};
  LongPsn next = 0;

  [[nodiscard]] bool covers(LongPsn psn) const { return psn < next && psn >= next - message.psn_count; }
};

/// A message that was acknowledged, as seen here. If its requester sends it again, that was not its end: then its `end`
/// is `open` until another answer comes.
struct EndedMessage {
  Message message{};
  LongPsn end = 0;

  [[nodiscard]] LongPsn first() const { return end - message.psn_count; }
  [[nodiscard]] bool is_awaited() const { return message.end == MessageEnd::open; }
};

/// The messages of a requester that are not reported yet.
struct MessageEnds {
  static constexpr LongPsn kAll = LongPsn{1} << 60U;

  Lazy<OpenMessage> open;
  Ring<EndedMessage> ended;   ///< the newest few, by PSN
  LongPsn heard = kAll;       ///< the PSN before which the requester has answers; `kAll` if it has all that were seen
  std::uint64_t walked = 0;   ///< how many messages have begun
  std::uint32_t awaited = 0;  ///< how many of `ended` are awaited
};

/// The tries of a requester to get one request through, since it last got one through.
struct Attempts {
  LongPsn psn = 0;
  std::uint32_t tries = 0;              ///< how many times it was sent
  std::uint32_t refusals = 0;           ///< RNR NAKs for it
  std::uint32_t answers = 0;            ///< answers to it that were seen and did not reach the requester
  Time begin{};                         ///< time of the first try
  Time since{};                         ///< time of the first try after the latest NAK for it
  Time latest{};                        ///< time of the latest try
  Duration shortest = Duration::max();  ///< least time from a try to the next, the first two aside; max: none
  Duration longest{};                   ///< most that it waited in vain, or as an RNR NAK asked
};

/// A request that was sent again because nothing answered it, or because a NAK named it. Whether it, or its answer, was
/// lost shows when the answers to the transmissions after it have come.
struct Doubt {
  PacketId packet{};  ///< the transmission that nothing answered, or that the NAK named
  Time time{};
  PacketId sent_again{};  ///< the first packet of the go-back
  PacketId nak{};         ///< the NAK; not set if nothing answered the request
  Time nak_time{};
  Time again{};           ///< with `nak`: time at which it, or a packet before it, was sent again
  Duration round_trip{};  ///< with `nak`: the most that a round trip takes
  bool is_first = false;  ///< with `nak`: it was the first transmission of its PSN
  LongPsn first = 0;
  LongPsn end = 0;              ///< PSNs from here on were not sent before `sent_again`
  std::uint32_t psn_count = 0;  ///< how many PSNs, from `first` on, may have been lost
  std::uint32_t asked = 0;      ///< packets before `end` that may be answered, from `sent_again` on
  std::uint32_t answers = 0;    ///< answers to `first` or later PSNs since then
};

/// A loss in front of the capture point that is not reported yet: the packet was sent again, but may only be late.
struct HeldLoss {
  PacketId about{};  ///< the packet that the verdict is on
  Time time{};
  PacketId other{};  ///< what the verdict refers to
  Time since{};      ///< time at which the packet was sent again
  LongPsn first = 0;
  std::uint32_t count = 1;
  bool is_response = false;
  bool is_only = false;  ///< a response: its READ or atomic had been requested once, so only one can be late
  bool has_come =
      false;  ///< a response with its PSN has come: it, or one to what was sent again; the next one shows it
  bool has_begun = false;  ///< the answer to what was sent again has begun
};

/// One PSN space: the requests to one QP, and the responses to them.
struct Channel {
  LongPsn first = 0;              ///< origin of relative PSNs
  LongPsn next = 0;               ///< the PSN after the newest request
  LongPsn next_max = 0;           ///< the most that `next` can be while a READ's span is a guess; else 0
  Ring<Request> requests;         ///< by PSN
  std::size_t settled = 0;        ///< how many of the oldest `requests` are acknowledged
  LongPsn latest = 0;             ///< PSN of the request packet that was seen last
  Time latest_time{};             ///< time of that packet
  RareRing<Gap> gaps;             ///< by PSN
  RareRing<Corrupted> corrupted;  ///< the newest few
  Lazy<Restart> restart;
  std::uint64_t message_count = 0;
  PacketId message_first{};

  LongPsn acknowledged = 0;      ///< the requests before it are acknowledged, or never will be
  LongPsn newest_response = 0;   ///< the highest PSN that was acknowledged or answered
  LongPsn highest_response = 0;  ///< the highest PSN of any response, NAKs included
  Ring<Response> responses;      ///< in the order in which they were seen
  RareRing<Read> reads;          ///< by PSN
  RareRing<Gap> response_gaps;   ///< by PSN
  RareRing<PendingNak> naks;     ///< those for sequence errors, in the order in which they were seen; a few
  Lazy<Filled> filled;
  Lazy<PendingNak> rnr;  ///< the latest RNR NAK; `packet` is not set if there was none
  Duration least_latency = Duration::max();
  Lazy<MessageEnds> ends;
  Lazy<Attempts> attempts;
  RareRing<Doubt> doubts;                    ///< in the order of `sent_again`
  RareRing<HeldLoss> held;                   ///< in the order of `since`; a few
  Duration least_timeout = Duration::max();  ///< shortest silence after which the requester went back by itself
  RequestOrder order;
  LatestAeth aeth;
  Lazy<Credits> credits;

  bool requests_seen = false;
  bool responses_seen = false;
  bool has_response = false;         ///< `newest_response` is set
  bool response_is_several = false;  ///< further responses were behind the latest one in its frame, which was cut
  bool read_was_passed = false;      ///< a READ was passed while it was incomplete, and may still be incomplete
  bool rnr_waits = false;            ///< the requester has not reacted to `rnr` yet
  bool refused = false;              ///< a NAK for an error was seen: the QP is in ERR
  bool lacks_lengths = false;        ///< a request was cut: the lengths of READs may be unknown
  bool lacks_syndromes = false;      ///< a response was seen of which it is unknown whether it is an ACK or a NAK
  bool in_doubt = false;       ///< a PSN was seen with two opcodes: two connections may have used these QP numbers
  std::uint8_t latencies = 0;  ///< how many were like `least_latency`, up to `kLatenciesAlike`
};

/// True if every response of the READ was seen since it was last requested.
[[nodiscard]] inline bool is_complete(const Channel& channel, const Read& read) {
  if (read.answer.next_response < read.end()) return false;
  for (std::size_t i = 0; i < channel.response_gaps.size(); ++i) {
    const Gap& gap = channel.response_gaps[i];
    if (gap.first >= read.psn && gap.first < read.end()) return false;
  }
  return true;
}

}  // namespace roce::analysis
