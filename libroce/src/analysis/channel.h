// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/ring.h"
#include "roce/analysis/lazy.h"
#include "roce/analysis/observation.h"
#include "roce/analysis/stream_summary.h"
#include "roce/analysis/verdict.h"

namespace roce::analysis {

/// A PSN that does not wrap. Where a channel's first PSN lies is arbitrary.
using LongPsn = std::int64_t;

/// A request packet that was seen.
struct Request {
  LongPsn psn = 0;
  PacketId first{};  ///< the first time it was seen
  PacketId last{};   ///< the last time
  Time first_time{};
  Time last_time{};
  Time previous_time{};      ///< the time before the last
  std::uint32_t span = 1;    ///< PSNs: 1, or the answer's packets of a READ
  std::uint32_t icrc = 0;    ///< of the last time
  std::uint32_t length = 0;  ///< payload; of a READ what it asks for; of a first WRITE packet its whole message
  std::uint16_t payload = 0;
  Opcode opcode{};
  std::uint8_t transmissions = 1;
  std::uint8_t hop_limit = 0;
  bool has_icrc = false;
  bool asks_for_ack = false;
  bool acknowledged = false;   ///< by an ACK or its own answer, as seen here
  bool came_late = false;      ///< the last time it was seen here behind its successors
  bool span_is_guess = false;  ///< a READ while the path MTU is unknown: `span` is the least it can be

  [[nodiscard]] LongPsn end() const { return psn + span; }
  [[nodiscard]] const OpcodeInfo& info() const { return opcode_info(opcode); }
  [[nodiscard]] bool needs_own_answer() const;
};

/// A range of PSNs that was not seen.
struct Gap {
  LongPsn first = 0;
  std::uint32_t count = 0;
  PacketId revealed_by{};
  Time revealed_at{};
  PacketId nak{};  ///< the NAK for its first PSN
  Time nak_time{};
  PacketId corrupted{};        ///< a packet with a wrong ICRC and one of its PSNs
  bool of_restart = false;     ///< the PSNs had been seen before, and are missing of a go-back
  PacketId acknowledged_by{};  ///< a response that shows that the responder had it
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
  bool is_lost = false;  ///< known not to have arrived
};

/// A READ or atomic that waits for its answer, or had it lately.
struct Read {
  LongPsn psn = 0;
  std::uint32_t span = 1;
  LongPsn asked_psn = 0;      ///< where the last request for it begins
  LongPsn next_response = 0;  ///< what is still to come of the answer to the last request
  LongPsn position = 0;       ///< behind the latest response, whichever request it answers
  LongPsn other = 0;          ///< where an answer to an earlier request may go on; the end when there is none
  PacketId request{};
  Time request_time{};
  std::uint32_t asked = 1;    ///< how often it was asked for
  bool answered = false;      ///< a response came since it was asked for last
  bool begun = false;         ///< the first packet of the answer to the last request was seen
  bool was_complete = false;  ///< it had been answered completely once
  bool passed = false;        ///< a response behind it was seen while it was incomplete
  PacketId passed_by{};
  Time passed_at{};
  LongPsn highest = 0;        ///< behind the newest response, whatever was asked for again since
  std::uint32_t length = 0;   ///< of a READ: what it asks for
  std::uint16_t payload = 0;  ///< of the FIRST and MIDDLE packets of its answer; 0 none was seen
  bool is_sure = false;       ///< a READ, and nothing since has contradicted `length`
  bool is_original = false;   ///< it begins at `psn`: it is not the rest of a READ that was not seen
  bool asked_unseen = false;  ///< an answer came to a request that was not seen

  [[nodiscard]] LongPsn end() const { return psn + span; }
};

/// A go-back of the requester that is under way: it sends again from some PSN on.
struct Restart {
  bool active = false;
  Cause cause = Cause::none;
  LongPsn first = 0;
  LongPsn next = 0;
  LongPsn jump_from = 0;  ///< where its latest packet left some out
  LongPsn jump_to = 0;
  Time begin{};
  Time latest{};          ///< of its newest packet
  bool answered = false;  ///< something of it was acknowledged
  LongPsn asked_for = 0;  ///< what its reason asked for; `first` without one
  PacketId reason{};
  Time reason_time{};
};

/// What the request packet before says of the one behind it.
struct RequestOrder {
  bool is_known = false;
  bool is_open = false;    ///< it is inside a message
  bool has_left = false;   ///< a WRITE of which everything was seen, so that `left` is known
  Operation operation{};   ///< of the open message
  std::uint16_t mtu = 0;   ///< payload of the open message's FIRST and MIDDLE; 0 unknown
  std::uint32_t left = 0;  ///< bytes still to come
  LongPsn next = 0;        ///< the PSN behind it
};

/// The AETH that was seen last.
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
  bool are_ignored = false;  ///< the requester does not keep to them
  bool is_stalled = false;   ///< `probe` is under way, and nothing more may be sent
  bool was_refused = false;  ///< the probe, by an RNR NAK
  Msn sent{};                ///< number of the newest message
  Msn limit{};               ///< of the newest that may be sent; one more as a probe
  LongPsn probe = 0;
  PacketId packet{};  ///< of the probe
  Time since{};
};

/// A NAK (sequence error or RNR) that the requester has not reacted to yet.
struct PendingNak {
  bool arrived_late = false;  ///< what it asked for was acknowledged all the same: it had only been late
  LongPsn psn = 0;
  PacketId packet{};
  Time time{};
  Duration wait{};                ///< of an RNR NAK
  bool suspect_is_first = false;  ///< the suspect was sent for the first time
  PacketId suspect{};             ///< the transmission that did not arrive in time, if it was seen
  Time suspect_time{};
};

/// A request packet that was seen with a wrong ICRC.
struct Corrupted {
  LongPsn psn = 0;
  PacketId packet{};
};

/// A missing request that came after a NAK for it: sent again, or overtaken and late. The next request tells.
struct Filled {
  bool active = false;
  LongPsn first = 0;
  std::uint32_t count = 0;
  Cause cause = Cause::none;
  PendingNak nak;
};

/// A message of the requester as far as its packets were walked through in order of their PSNs.
struct OpenMessage {
  bool active = false;
  bool whole = true;
  Message message{};
  LongPsn next = 0;
  Operation operation{};
};

/// One PSN space: the requests of one QP, and what the other end answers to them.
struct Channel {
  LongPsn first = 0;              ///< where relative PSNs count from
  LongPsn next = 0;               ///< behind the newest request
  LongPsn next_max = 0;           ///< while a READ's span is a guess: the most that `next` can be
  Ring<Request> requests;         ///< by PSN
  std::size_t settled = 0;        ///< how many of `requests`, from the front, are acknowledged
  LongPsn latest = 0;             ///< of the request packet that was seen last
  RareRing<Gap> gaps;             ///< by PSN
  RareRing<Corrupted> corrupted;  ///< the latest few
  Restart restart;
  std::uint64_t message_count = 0;
  PacketId message_first{};

  LongPsn acknowledged = 0;      ///< every request before it is acknowledged, or will never be
  LongPsn newest_response = 0;   ///< the highest PSN that was acknowledged or answered
  LongPsn highest_response = 0;  ///< the highest PSN of a response, refusals among them
  Ring<Response> responses;      ///< in the order they were seen
  RareRing<Read> reads;          ///< by PSN
  RareRing<Gap> response_gaps;   ///< by PSN
  RareRing<PendingNak> naks;     ///< for sequence errors, in the order they were seen; a few
  Lazy<Filled> filled;
  Lazy<PendingNak> rnr;  ///< the latest; `packet` says whether there is one
  Duration least_latency = Duration::max();
  OpenMessage open;
  std::uint64_t messages_walked = 0;
  RequestOrder order;
  LatestAeth aeth;
  Lazy<Credits> credits;

  bool requests_seen = false;
  bool responses_seen = false;
  bool has_response = false;     ///< `newest_response` is one
  bool read_was_passed = false;  ///< one that was incomplete, and may be still
  bool rnr_waits = false;        ///< the requester has not reacted to `rnr` yet
  bool refused = false;          ///< an error NAK was seen: the QP is in ERR
  bool in_doubt = false;         ///< a PSN came again with another opcode: two connections may have used its numbers
};

/// Whether every response of the READ was seen since it was asked for last.
[[nodiscard]] inline bool is_complete(const Channel& channel, const Read& read) {
  if (read.next_response < read.end()) return false;
  for (std::size_t i = 0; i < channel.response_gaps.size(); ++i) {
    const Gap& gap = channel.response_gaps[i];
    if (gap.first >= read.psn && gap.first < read.end()) return false;
  }
  return true;
}

}  // namespace roce::analysis
