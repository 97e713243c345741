// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/analysis/state_error.h"
#include "roce/analysis/stream_summary.h"
#include "roce/analysis/verdict.h"

namespace roce::analysis {

inline constexpr std::uint32_t kNoStream = 0xFFFF'FFFF;

enum class PacketRole : std::uint8_t { other, request, response, datagram, cnp, management };

/// The facts about a packet when it is seen: everything except what later packets reveal.
struct PacketAnalysis {
  std::uint32_t stream = kNoStream;
  std::uint8_t direction = 0;  ///< 0: from `StreamSummary::ends[0]`
  PacketRole role = PacketRole::other;
  /// The stream that this packet proved to be direction 1 of `stream`:
  /// everything reported about it as direction 0 now belongs there. Mostly `kNoStream`.
  std::uint32_t absorbed = kNoStream;
  std::int64_t relative_psn = 0;        ///< distance from the first PSN of its requester that was seen, across wraps
  std::uint64_t message = 0;            ///< number of its message, from 1; 0 unknown
  PacketId message_first{};             ///< the first packet of its message
  PacketId request{};                   ///< for a response: the (last) request packet that it answers
  Duration latency{};                   ///< with `request`: time since that packet
  Duration since_last{};                ///< time since the stream's last packet; 0 for the first
  std::span<const Verdict> verdicts{};  ///< immediate verdicts; valid until the next call of the tracker
};

/// A request packet and its response, known when the response is seen.
struct Answer {
  PacketId request{};
  PacketId response{};
  Duration latency{};

  friend bool operator==(const Answer&, const Answer&) = default;
};

/// The amount that a tracker keeps. Its memory never exceeds the bound that follows from these numbers.
struct Limits {
  std::size_t streams = 65'536;              ///< open streams; the one silent longest is closed for a new one
  std::size_t requests_per_stream = 16'384;  ///< request packets that are remembered, in each direction
  std::size_t responses_per_stream = 4'096;  ///< response packets that are remembered, in each direction
  std::uint32_t max_gap = 1U << 20U;         ///< a larger jump of the PSN is another connection, not a gap
};

/// The amount that was discarded because of `Limits`.
struct Evictions {
  std::uint64_t streams = 0;
  std::uint64_t requests = 0;  ///< request packets that were not acknowledged yet

  friend bool operator==(const Evictions&, const Evictions&) = default;
};

struct TrackerOptions {
  Limits limits{};
  bool keep_messages = true;     ///< messages are kept for `drain_messages`
  bool keep_first_ends = false;  ///< messages are also kept for `drain_first_ends`
  bool keep_answers = true;      ///< answers are kept for `drain_answers`
  bool keep_begins = false;      ///< `TrackerShards::begins` knows the packets that began the streams
  Duration cnp_interval{};       ///< shortest time between two CNPs for one QP (CC-01); 0 unknown: CNPs are not judged
};

/// Follows the connections of a capture. Takes the packets in the order of the capture; deterministic, bounded, without
/// I/O and clock. Packets of different host pairs do not influence each other, so that several trackers may share the
/// work by host pair.
class Tracker {
 public:
  explicit Tracker(const TrackerOptions& options = {});
  ~Tracker();
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;

  /// Takes the next packet. The result is valid until the next call of a member that is not const.
  const PacketAnalysis& observe(const Observation& observation);
  /// Ends the capture: nothing is left open for later packets to explain. Further packets begin anew.
  void finish();

  /// Appends the retrospective verdicts since the last call, in the order in which they became certain.
  void drain(std::vector<Verdict>& into);
  /// Appends the messages of which it has become certain since the last call how they ended. Those of one requester are
  /// in order. A message is certain some time after its end, at the latest with `finish`, which puts those that are
  /// left in the order of their ends.
  void drain_messages(std::vector<Message>& into);
  /// Appends the messages that have ended since the last call, as far as was seen so far: if the answer to one proves
  /// to have been lost, the message ended later. For callers that cannot wait.
  void drain_first_ends(std::vector<Message>& into);
  /// Appends the answers since the last call.
  void drain_answers(std::vector<Answer>& into);

  /// Appends the streams that were closed since the last call, in the order of their ends. Streams not taken are kept.
  void drain_closed(std::vector<StreamSummary>& into);

  /// Returns the open streams, and those closed since the last call of `drain_closed`, by number.
  [[nodiscard]] std::vector<StreamSummary> streams() const;
  [[nodiscard]] std::size_t stream_count() const;     ///< open streams
  [[nodiscard]] std::uint32_t streams_begun() const;  ///< so far; also the number of the next one
  [[nodiscard]] const Evictions& evictions() const;

  /// Returns the last packet of the open stream that was silent longest; empty if no stream is open.
  [[nodiscard]] PacketId longest_silent() const;
  /// Closes that stream, as `Limits::streams` does; it counts as evicted. There has to be an open stream.
  void evict_longest_silent();

  /// Saves everything by which later packets are judged, to continue in another run; neither the options nor
  /// what waits to be drained. Packets keep their numbers: those of the next capture have to continue the count.
  [[nodiscard]] std::vector<std::byte> save() const;
  /// Continues from what a tracker of the same version saved; forgets everything before. Error: nothing has changed.
  [[nodiscard]] tl::expected<void, StateError> restore(Bytes state);

 private:
  friend class TrackerShards;
  class State;

  std::unique_ptr<State> state_;
};

}  // namespace roce::analysis
