// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roce/analysis/pause.h"
#include "roce/analysis/tracker.h"

namespace roce::plugin {

/// What is known of one packet; grows while later packets are seen.
struct PacketFacts {
  std::uint32_t offset = 0;  ///< where in its frame the packet begins
  std::uint32_t stream = analysis::kNoStream;
  std::uint8_t direction = 0;
  analysis::PacketRole role = analysis::PacketRole::other;
  std::int64_t relative_psn = 0;
  std::uint64_t message = 0;           ///< of its direction, from 1; 0 unknown
  analysis::PacketId message_first{};  ///< the first packet of its message
  analysis::PacketId request{};        ///< of a response: the last request packet that it answers
  analysis::PacketId response{};       ///< of a request: what answered it; known when that is seen
  Duration latency{};                  ///< between the two
  Duration since_last{};               ///< since the stream's last packet; 0 for the first
  std::uint32_t verdicts = 0;          ///< the first of a chain, from 1; 0: none
  std::uint32_t learned = 0;           ///< the first of a chain, from 1; 0: none
};

/// One end of a stream.
struct StreamEnd {
  Gid address{};
  std::optional<Qpn> qpn{};  ///< none: the capture does not say it so far
};

/// Follows the connections of the capture that is open, on the first pass over it, and remembers what was found for
/// the passes that follow. Memory: 120 bytes a packet, and as many a verdict.
class CaptureAnalysis {
 public:
  explicit CaptureAnalysis(const analysis::PauseOptions& pause = {});

  /// Takes the next packet of the first pass. `observation.id` names its frame, in the order of the capture, and its
  /// place in it; `offset` is where in the frame it begins. A packet that was taken already is not taken again, and one
  /// that comes out of order neither.
  void observe(const analysis::Observation& observation, std::uint32_t offset);
  /// The end of the first pass: what later packets could have told stays unknown.
  void finish();

  /// A packet of a frame, by its place (`segment`), or null.
  [[nodiscard]] const PacketFacts* find(analysis::PacketId id) const;
  /// The packet of a frame that begins at `offset`, or null.
  [[nodiscard]] const PacketFacts* find_at(std::uint64_t frame, std::uint32_t offset) const;
  /// How many packets a frame has so far.
  [[nodiscard]] std::uint32_t packets_in(std::uint64_t frame) const;

  /// A verdict with the place of the next in its chain.
  struct Entry {
    analysis::Verdict verdict;
    std::uint32_t next = 0;
  };
  /// What is said about a packet: a chain from `PacketFacts::verdicts`; `index` from 1.
  [[nodiscard]] const Entry& verdict(std::uint32_t index) const { return verdicts_[index - 1]; }
  /// The retrospective verdicts about earlier packets that a packet made certain: a chain from `PacketFacts::learned`
  /// of indices for `verdict`.
  struct Link {
    std::uint32_t verdict = 0;
    std::uint32_t next = 0;
  };
  [[nodiscard]] const Link& learned(std::uint32_t index) const { return learned_[index - 1]; }

  /// The messages that ended.
  [[nodiscard]] const std::vector<analysis::Message>& messages() const { return messages_; }
  /// Those of them whose end a packet made certain. Valid until the next packet is taken.
  [[nodiscard]] std::span<const analysis::Message> messages_ended_by(const PacketFacts& facts) const;
  /// End 0 or 1 of a stream; packets of direction 0 come from end 0. Empty for a stream that is not known.
  [[nodiscard]] StreamEnd end_of(std::uint32_t stream, std::uint8_t end) const;
  [[nodiscard]] std::vector<analysis::StreamSummary> streams() const { return tracker_.streams(); }

 private:
  [[nodiscard]] bool has(analysis::PacketId id) const { return id.segment < packets_in(id.frame); }
  [[nodiscard]] PacketFacts* facts_of(analysis::PacketId id);
  /// The verdict's index, from 1; 0: its packet is not known.
  std::uint32_t add_verdict(const analysis::Verdict& verdict);
  void take_news(PacketFacts* revealed_by);
  void learn_ends(const analysis::Observation& observation, const PacketFacts& facts);

  /// Messages whose end one packet made certain.
  struct Ended {
    std::uint32_t packet = 0;  ///< its index
    std::uint32_t first = 0;   ///< the index of the first of them
    std::uint32_t count = 0;
  };

  analysis::Tracker tracker_;
  analysis::PauseTracker pauses_;
  std::vector<PacketFacts> packets_;
  std::vector<std::uint32_t> first_packet_;  ///< by frame: the index of its first packet, and so for the next frame
  std::vector<Entry> verdicts_;
  std::vector<Link> learned_;
  std::vector<analysis::Message> messages_;
  std::vector<Ended> ended_;  ///< in the order of the packets
  std::vector<std::array<StreamEnd, 2>> stream_ends_;
  std::vector<analysis::Verdict> news_;
  std::vector<analysis::Answer> answers_;
  analysis::PacketId last_{};
};

}  // namespace roce::plugin
