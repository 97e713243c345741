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
#include "roce/analysis/observation.h"
#include "roce/analysis/state_error.h"
#include "roce/analysis/tally.h"
#include "roce/analysis/verdict.h"

namespace roce::analysis {

/// What a message is for.
enum class MessageType : std::uint8_t { send, write, read, atomic, atomic_write, flush };
inline constexpr std::size_t kMessageTypes = 6;

[[nodiscard]] std::string_view to_string(MessageType type);

enum class MessageEnd : std::uint8_t {
  open,          ///< the capture ended before it was answered
  acknowledged,  ///< by an ACK, or a READ or atomic by its answer
  refused,       ///< by an error NAK
  sent,          ///< of UC and UD: its last packet was seen
  incomplete,    ///< the capture does not have all of it
};

[[nodiscard]] std::string_view to_string(MessageEnd end);

/// A message: the packets of one work request, with its answer.
struct Message {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;  ///< of its requests: 0 from `StreamSummary::ends[0]`
  MessageType type{};
  MessageEnd end = MessageEnd::open;
  bool has_immediate = false;
  bool has_invalidate = false;
  bool start_seen = true;    ///< its first packet is in the capture
  std::uint64_t number = 0;  ///< of the messages of its direction, from 1
  PacketId first{};          ///< its first packet
  PacketId last{};           ///< its last request packet
  PacketId answer{};         ///< what completed it; none when nothing did
  Psn first_psn{};
  std::uint32_t psn_count = 0;
  std::uint64_t bytes = 0;            ///< payload; of a READ what it asked for
  Time start{};                       ///< of `first`
  Time finish{};                      ///< of `answer`; of UC and UD of `last`
  std::uint32_t retransmissions = 0;  ///< request packets sent again

  /// From the first packet to the answer (UC, UD: to the last packet), at the capture point.
  [[nodiscard]] Duration latency() const { return finish - start; }

  friend bool operator==(const Message&, const Message&) = default;
};

/// Counts of what went one way.
struct DirectionSummary {
  bool seen = false;  ///< any packet this way is in the capture
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< of the frames
  std::uint64_t request_packets = 0;
  std::uint64_t request_bytes = 0;   ///< payload of requests, repeated ones too
  std::uint64_t response_bytes = 0;  ///< payload of READ responses
  std::uint64_t goodput_bytes = 0;   ///< payload of acknowledged messages of this requester; READs count here too
  std::array<std::uint64_t, kMessageTypes> messages{};  ///< completed ones of this requester
  std::uint64_t messages_refused = 0;
  std::uint64_t acks = 0;
  std::uint64_t ecn_capable = 0;  ///< ECT or CE
  Histogram latency;              ///< of completed messages of this requester

  friend bool operator==(const DirectionSummary&, const DirectionSummary&) = default;
};

/// Everything about one stream: a connection, or one direction of one.
struct StreamSummary {
  std::uint32_t stream = 0;
  RoceVersion version{};
  Service service{};
  std::uint64_t domain = 0;
  std::optional<std::uint16_t> vlan{};
  bool joined = false;                       ///< both directions are known to belong together
  bool is_open_start = false;                ///< it had begun before the capture
  std::array<Gid, 2> ends{};                 ///< [0] is the source of the first packet
  std::array<std::optional<Qpn>, 2> qpns{};  ///< of the ends, as far as known
  std::uint16_t path_mtu = 0;                ///< bytes; 0 unknown
  PacketId first{};
  PacketId last{};
  Time start{};
  Time end{};
  std::array<DirectionSummary, 2> directions{};
  Tally<VerdictKind> verdicts{};
  Tally<Rule> broken{};            ///< verdicts with a rule
  Tally<Cause> retransmissions{};  ///< by what they are due to
  std::uint64_t spurious_retransmissions = 0;
  std::uint64_t lost_psns = 0;    ///< of all losses, whatever their place
  std::uint64_t missed_psns = 0;  ///< that only the capture does not have
  /// Of each direction whose data was marked or whose sender got CNPs; by direction.
  std::vector<CongestionSummary> congestion{};

  [[nodiscard]] std::uint64_t count(VerdictKind kind) const { return verdicts[kind]; }
  [[nodiscard]] std::uint64_t count(Rule rule) const { return broken[rule]; }

  friend bool operator==(const StreamSummary&, const StreamSummary&) = default;
};

/// Adds what `later` says of the same connection in a capture that begins where that of `summary` ends; its ends may
/// stand the other way round. What spans the two captures is in neither, and so not in the sum. The number of the
/// stream, and of its first packet, stay those of `summary`; the last packet is that of `later`.
void merge(StreamSummary& summary, const StreamSummary& later);

/// Summaries as they are kept from one run to the next.
[[nodiscard]] std::vector<std::byte> save_streams(std::span<const StreamSummary> streams);
/// What `save_streams` of the same version saved.
[[nodiscard]] tl::expected<std::vector<StreamSummary>, StateError> restore_streams(Bytes state);

}  // namespace roce::analysis
