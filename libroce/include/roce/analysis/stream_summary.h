// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "roce/analysis/congestion.h"
#include "roce/analysis/histogram.h"
#include "roce/analysis/lazy.h"
#include "roce/analysis/observation.h"
#include "roce/analysis/state_error.h"
#include "roce/analysis/tally.h"
#include "roce/analysis/verdict.h"

namespace roce::analysis {

/// The operation of a message.
enum class MessageType : std::uint8_t { send, write, read, atomic, atomic_write, flush };
inline constexpr std::size_t kMessageTypes = 6;

[[nodiscard]] std::string_view to_string(MessageType type);

enum class MessageEnd : std::uint8_t {
  open,          ///< the capture ended before it was answered
  acknowledged,  ///< by an ACK; a READ or atomic by its answer
  refused,       ///< by an error NAK
  sent,          ///< UC and UD: its last packet was seen
  incomplete,    ///< the capture does not have all of it
};

[[nodiscard]] std::string_view to_string(MessageEnd end);

/// A message: the packets of one work request, with their answer.
struct Message {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;  ///< direction of its requests: 0 from `StreamSummary::ends[0]`
  MessageType type{};
  MessageEnd end = MessageEnd::open;
  bool has_immediate = false;
  bool has_invalidate = false;
  bool start_seen = true;    ///< its first packet is in the capture
  std::uint64_t number = 0;  ///< number among the messages of its direction, from 1
  PacketId first{};          ///< its first packet
  PacketId last{};           ///< its last request packet
  PacketId answer{};         ///< the packet that completed it; empty if none did
  Psn first_psn{};
  std::uint32_t psn_count = 0;
  std::uint64_t bytes = 0;            ///< payload; for a READ, the length that it asked for
  Time start{};                       ///< time of `first`
  Time finish{};                      ///< time of `answer`; for UC and UD, of `last`
  std::uint32_t retransmissions = 0;  ///< request packets sent again

  /// True if it is known to have reached its end: acknowledged, or sent where nothing is.
  [[nodiscard]] bool is_completed() const { return end == MessageEnd::acknowledged || end == MessageEnd::sent; }
  /// Returns the time from the first packet to the answer (UC, UD: to the last packet), at the capture point.
  [[nodiscard]] Duration latency() const { return finish - start; }

  friend bool operator==(const Message&, const Message&) = default;
};

/// How a requester was left with a request that has no answer.
enum class Unanswered : std::uint8_t {
  sent_once,     ///< it asked for an answer, was not sent again but for a NAK, and no answer was seen
  silence,       ///< it was sent several times, not only for NAKs, and no answer to the last one was seen
  not_ready,     ///< an RNR NAK refused it, and it was not sent again
  answers_lost,  ///< it was sent several times though answers were seen; whether the last one reached it is unknown
};

[[nodiscard]] std::string_view to_string(Unanswered how);

/// The oldest request without an answer at the end of a stream.
struct UnansweredRequest {
  std::uint8_t direction = 0;  ///< of the request
  Unanswered how{};
  bool is_one_way = false;  ///< the capture has nothing of the other direction: it may lack the answers alone
  /// The exponent n of the ACK timeout, 4.096 us * 2^n, by the times between the tries; 0 unknown.
  std::uint8_t ack_timeout = 0;
  Opcode opcode{};
  Psn psn{};
  std::uint32_t tries = 0;     ///< how many times it was sent
  std::uint32_t refusals = 0;  ///< RNR NAKs for it
  PacketId packet{};           ///< its latest transmission
  Time begin{};                ///< time of the first try
  Time since{};                ///< time of the first try after the latest NAK for it
  Time latest{};               ///< time of the latest try, or of the RNR NAK for it
  Duration wait{};             ///< longest wait in vain between two tries; 0 if there was none

  friend bool operator==(const UnansweredRequest&, const UnansweredRequest&) = default;
};

/// When an end of a stream sent nothing.
struct Quiet {
  Time begin{};             ///< time of the last packet before
  Time end{};               ///< time of the next one
  std::uint32_t tries = 0;  ///< how often the other end sent a request again meanwhile

  [[nodiscard]] Duration length() const { return end - begin; }

  friend bool operator==(const Quiet&, const Quiet&) = default;
};

/// Waits for an end that sent nothing.
struct Stalls {
  Quiet longest{};  ///< from the first try of the request that was sent again, or the last packet if that is later
  Time asked{};     ///< with `DirectionSummary::unheard`: time of the first try of that request

  friend bool operator==(const Stalls&, const Stalls&) = default;
};

/// Requests that were sent again and are larger than any that arrived.
struct LargerRequests {
  std::uint64_t packets = 0;  ///< transmissions of them
  std::uint32_t least = 0;    ///< payload of the smallest of them, bytes
  std::uint32_t tries = 0;    ///< how often the requester went back to one of them
  Time since{};               ///< time of the first transmission
  Time again{};               ///< time at which the requester went back first

  friend bool operator==(const LargerRequests&, const LargerRequests&) = default;
};

/// Counts for one direction.
struct DirectionSummary {
  bool seen = false;  ///< the capture has any packet of this direction
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< bytes of the frames
  std::uint64_t request_packets = 0;
  std::uint64_t request_bytes = 0;   ///< payload of requests, including repeated ones
  std::uint64_t response_bytes = 0;  ///< payload of READ responses
  std::uint64_t goodput_bytes = 0;   ///< payload of acknowledged messages of this requester; READs count here too
  std::array<std::uint64_t, kMessageTypes> messages{};  ///< completed messages of this requester
  std::uint64_t messages_refused = 0;
  std::uint64_t acks = 0;
  std::uint64_t cnps = 0;
  std::uint64_t ecn_capable = 0;  ///< ECT or CE
  Histogram latency;              ///< latency of completed messages of this requester
  Time latest{};                  ///< time of the latest packet
  Duration longest_quiet{};       ///< the longest time between two packets
  std::uint32_t unheard = 0;      ///< how often the other end sent a request again since the latest packet
  std::uint16_t full_size = 0;    ///< payload of the latest FIRST or MIDDLE request packet, bytes; 0: there was none
  std::uint16_t largest_arrived = 0;  ///< payload of the largest request packet that was acknowledged, bytes
  std::uint64_t arrived = 0;          ///< request packets that were acknowledged
  Lazy<Quiet> missed;                 ///< the longest time without a packet, of those with `tries`
  Lazy<Stalls> stalls;
  Lazy<LargerRequests> larger;  ///< since `largest_arrived` was acknowledged first

  friend bool operator==(const DirectionSummary&, const DirectionSummary&) = default;
};

/// Everything about one stream: a connection, or one direction of one.
struct StreamSummary {
  std::uint32_t stream = 0;
  std::uint16_t point = 0;  ///< capture point of its packets: `Observation::point`
  RoceVersion version{};
  Service service{};
  std::uint64_t domain = 0;
  std::optional<std::uint16_t> vlan{};
  bool joined = false;                       ///< both directions are known to belong together
  bool is_open_start = false;                ///< the connection began before the capture
  std::array<Gid, 2> ends{};                 ///< [0] is the source of the first packet
  std::array<std::optional<Qpn>, 2> qpns{};  ///< QPNs of the ends, as far as known
  std::uint16_t path_mtu = 0;                ///< bytes; 0 unknown
  PacketId first{};
  PacketId last{};
  Time start{};
  Time end{};
  std::array<DirectionSummary, 2> directions{};
  Tally<VerdictKind> verdicts{};
  Tally<Rule> broken{};            ///< verdicts with a rule, by rule
  Tally<Cause> retransmissions{};  ///< retransmissions by cause
  std::uint64_t spurious_retransmissions = 0;
  std::uint64_t lost_psns = 0;     ///< PSNs of all losses, wherever they occurred
  std::uint64_t lost_packets = 0;  ///< the packets of these losses: the sum of `Verdict::lost_packets`
  std::uint64_t missed_psns = 0;   ///< PSNs that are missing only in the capture
  /// PSNs between those of the datagrams of this stream that none of them has. The sending QP counts all that it sends,
  /// so they may be those of other streams of this QP, of datagrams that took another way, or of lost ones.
  std::uint64_t unseen_datagrams = 0;
  /// One entry for each direction whose data was marked or whose sender got CNPs; by direction.
  std::vector<CongestionSummary> congestion{};
  /// At most one for each direction, by direction; known when it has ended.
  std::vector<UnansweredRequest> unanswered{};

  [[nodiscard]] std::uint64_t count(VerdictKind kind) const { return verdicts[kind]; }
  [[nodiscard]] std::uint64_t count(Rule rule) const { return broken[rule]; }

  friend bool operator==(const StreamSummary&, const StreamSummary&) = default;
};

/// Adds `later`, the summary of the same connection in a capture that begins where that of `summary` ends; its ends
/// may be in the opposite order. Events that span the two captures are in neither summary, and so not in the sum.
/// The number of the stream, and of its first packet, stay those of `summary`; the last packet is that of `later`.
void merge(StreamSummary& summary, const StreamSummary& later);

/// Saves summaries, to keep them from one run to the next.
[[nodiscard]] std::vector<std::byte> save_streams(std::span<const StreamSummary> streams);
/// Restores the summaries that `save_streams` of the same version saved.
[[nodiscard]] tl::expected<std::vector<StreamSummary>, StateError> restore_streams(Bytes state);

}  // namespace roce::analysis
