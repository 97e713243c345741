// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/analysis_run.h"

namespace roce::analyze {

/// What was found of one kind.
struct Finding {
  const analysis::VerdictInfo* info = nullptr;
  std::uint64_t count = 0;    ///< verdicts
  std::uint64_t packets = 0;  ///< that they are about
  std::uint64_t streams = 0;  ///< with at least one
  struct Share {
    std::uint32_t stream = 0;
    std::uint64_t count = 0;
  };
  std::vector<Share> worst;  ///< at most three streams, the worst first
};

/// A statement about the whole.
struct Statement {
  analysis::Severity severity{};
  std::string text;
};

/// What the summary says, before it is text.
struct Summary {
  std::uint64_t connections = 0;  ///< streams of connected services
  std::uint64_t datagram_flows = 0;
  std::uint64_t hosts = 0;
  LossPlaces losses;
  std::vector<Finding> findings;                      ///< worst first
  std::vector<Statement> statements;                  ///< worst first; the first is the headline
  std::vector<std::string> lacks;                     ///< what the capture itself lacks
  std::vector<const analysis::StreamSummary*> worst;  ///< streams, worst first
  bool is_clean = true;                               ///< nothing but notes
};

/// `result` must outlive what comes back.
[[nodiscard]] Summary summarise(const AnalysisResult& result);

/// Sentences for people: what `result` leaves out because memory is bounded.
[[nodiscard]] std::vector<std::string> memory_lacks(const AnalysisResult& result);

/// `1 frame`, `12 345 frames`, with the digits of `count_text`.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

[[nodiscard]] bool is_connected(const analysis::StreamSummary& stream);
[[nodiscard]] std::uint64_t error_naks(const analysis::StreamSummary& stream);
/// Of packets of requests that were sent again.
[[nodiscard]] std::uint64_t retransmissions(const analysis::StreamSummary& stream);
/// Payload that arrived, both ways together, in bits a second; 0 when there is no time to speak of.
[[nodiscard]] double goodput(const analysis::StreamSummary& stream);
/// 0 when there is no time to speak of.
[[nodiscard]] double bits_per_second(std::uint64_t bytes, Duration time);
/// Completed messages of both ends.
[[nodiscard]] analysis::Histogram latencies(const analysis::StreamSummary& stream);
/// Whether `a` is to be looked at before `b`.
[[nodiscard]] bool is_worse(const analysis::StreamSummary& a, const analysis::StreamSummary& b);

}  // namespace roce::analyze
