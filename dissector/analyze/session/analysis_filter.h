// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/filter/display_filter.h"
#include "analyze/run/analysis_run.h"

namespace roce::analyze {

struct PacketIdHash {
  std::size_t operator()(const analysis::PacketId& id) const {
    return std::hash<std::uint64_t>{}(id.frame * 0x9E37'79B9'7F4A'7C15 + id.segment);
  }
};

/// A set of packets: one bit for each frame, and a hash table only for the later packets of super-frames.
class PacketSet {
 public:
  void insert(analysis::PacketId id);
  [[nodiscard]] bool contains(analysis::PacketId id) const;
  /// Removes all packets.
  void clear();

 private:
  std::vector<bool> frames_;  ///< by frame number; for a super-frame, its first packet
  std::unordered_set<analysis::PacketId, PacketIdHash> segments_;
};

/// Facts that become known only after the packet was seen: retrospective verdicts and the answers to requests.
class LaterFacts final : public AnalysisConsumer {
 public:
  struct Facts {
    std::uint64_t verdicts = 0;  ///< bit n: `VerdictKind` n
    std::uint16_t causes = 0;    ///< bit n: `Cause` n
    analysis::Answer answer{};
  };

  void on_verdict(const analysis::Verdict& verdict) override;
  void on_answer(const analysis::Answer& answer) override;

  [[nodiscard]] Facts find(analysis::PacketId id) const;

 private:
  std::unordered_map<analysis::PacketId, Facts, PacketIdHash> facts_;
};

/// A filter expression over the fields of packets and the following fields of the analysis, all `roce.analysis.*`:
/// - `stream`, `direction`, `role`, `relative_psn`, `message`, `since_last`;
/// - `latency`: for a response since its request, for a request until its answer; `request`, `response`: that frame;
/// - a boolean for each verdict (`roce.analysis.retransmission`); `verdict`, `cause`: all those of the packet, by name;
///   `rule`: all rules that the packet's sender breaks with it, by identifier; `spurious`.
class AnalysisFilter {
 public:
  /// Constructs a filter that passes everything.
  AnalysisFilter() = default;

  /// Compiles an expression. Error: a sentence for people.
  [[nodiscard]] static tl::expected<AnalysisFilter, std::string> compile(std::string_view expression);

  [[nodiscard]] bool passes_everything() const { return filter_.passes_everything(); }
  /// True if the expression uses a field that only later packets decide; `matches` then needs facts from a whole pass.
  [[nodiscard]] bool needs_later_facts() const { return needs_later_; }
  /// True if the packet passes. `facts` may be null.
  [[nodiscard]] bool matches(const AnalysedPacket& packet, const LaterFacts* facts) const;

 private:
  DisplayFilter filter_;
  bool needs_later_ = false;
};

}  // namespace roce::analyze
