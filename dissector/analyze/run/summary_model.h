// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/run/analysis_run.h"
#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// All verdicts of one kind.
struct Finding {
  const analysis::VerdictInfo* info = nullptr;
  std::optional<std::uint16_t> point;  ///< capture point of the verdicts, if the summary is about several
  std::uint64_t count = 0;             ///< number of verdicts
  std::uint64_t packets = 0;           ///< packets that the verdicts are about
  std::uint64_t streams = 0;           ///< streams with at least one verdict
  struct Share {
    std::uint32_t stream = 0;
    std::uint64_t count = 0;
  };
  std::vector<Share> worst;  ///< at most three streams, the worst first
  FramePlace first;          ///< frame of the earliest verdict
  Time begin{};              ///< its time
  Time end{};                ///< time of the latest verdict
  std::string_view advice;   ///< what to do about it, by what else was found; may be empty
};

/// The fate of the packets on their way from one capture point to the next.
struct Crossing {
  std::uint16_t from = 0;
  std::uint16_t to = 0;
  std::uint64_t packets = 0;  ///< seen at `from`, without `not_judged`
  std::uint64_t matched = 0;  ///< seen at both
  std::uint64_t lost = 0;
  std::uint64_t damaged = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t missed = 0;           ///< seen only at `to`: the capture at `from` lacks them
  std::uint64_t not_judged = 0;       ///< seen only at `from`, and perhaps due at `to` when its capture was not running
  std::optional<Duration> delay_p50;  ///< median of the time between the points; not set if the clocks are unknown

  [[nodiscard]] std::uint64_t died() const { return lost + damaged; }
};

/// A comparison of capture points that saw the same packets.
struct JoinedPoints {
  std::vector<Crossing> crossings;  ///< the worst first
  std::vector<std::string> caveats;
  std::vector<std::string> clocks_apart;  ///< sentences about clocks that cannot be those of synchronised hosts
};

/// The contents of the summary, before they become text.
struct Summary {
  std::uint64_t connections = 0;  ///< number of connections, however many points saw them
  std::uint64_t datagram_flows = 0;
  std::vector<std::uint16_t> points;  ///< capture points that saw RoCE packets, by number
  std::uint64_t hosts = 0;
  LossPlaces losses;
  std::vector<Finding> findings;                      ///< worst first
  std::vector<Statement> statements;                  ///< worst first; the first is the headline
  std::vector<std::string> lacks;                     ///< defects of the capture itself
  std::vector<const analysis::StreamSummary*> worst;  ///< streams, worst first
  bool is_clean = true;                               ///< there are only notes
  JoinedPoints joined;
};

/// Summarises a run. `result` must outlive the returned value.
[[nodiscard]] Summary summarise(const AnalysisResult& result, JoinedPoints joined = {});

}  // namespace roce::analyze
