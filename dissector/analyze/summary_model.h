// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/analysis_run.h"

namespace roce::analyze {

/// Lost packets by the side of the capture point on which they were lost.
struct LossPlaces {
  std::uint64_t before = 0;   ///< between the sender and the capture point
  std::uint64_t after = 0;    ///< between the capture point and the receiver
  std::uint64_t beyond = 0;   ///< on the responder's side: there, or the answer on its way back
  std::uint64_t damaged = 0;  ///< of those before it: seen here, with a wrong ICRC

  [[nodiscard]] std::uint64_t total() const { return before + after + beyond; }
};

/// Counts verdicts by kind, and losses by place and stream.
class VerdictCounter final : public AnalysisConsumer {
 public:
  void on_verdict(const analysis::Verdict& verdict) override;
  [[nodiscard]] bool wants_packets() const override { return false; }

  struct Count {
    std::uint64_t verdicts = 0;
    std::uint64_t packets = 0;  ///< that they are about
  };
  [[nodiscard]] const Count& of(analysis::VerdictKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::uint64_t of(analysis::Rule rule) const { return rules_[static_cast<std::size_t>(rule)]; }
  [[nodiscard]] const LossPlaces& losses() const { return losses_; }
  [[nodiscard]] LossPlaces losses(std::uint32_t stream) const;
  [[nodiscard]] std::size_t lossy_streams() const { return by_stream_.size(); }

 private:
  std::array<Count, static_cast<std::size_t>(analysis::VerdictKind::count)> counts_{};
  std::array<std::uint64_t, static_cast<std::size_t>(analysis::Rule::count)> rules_{};
  LossPlaces losses_;
  std::unordered_map<std::uint32_t, LossPlaces> by_stream_;
};

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
[[nodiscard]] Summary summarise(const AnalysisResult& result, const VerdictCounter& verdicts);

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
