// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/stream_figures.h"

#include <chrono>
#include <numeric>
#include <tuple>

#include "roce/analysis/verdict.h"

namespace roce::analyze {

using analysis::Severity;
using analysis::StreamSummary;
using analysis::VerdictKind;

bool is_connected(const StreamSummary& stream) {
  return stream.service != Service::ud && stream.service != Service::cnp;
}

std::uint64_t error_naks(const StreamSummary& stream) {
  return std::accumulate(kErrorNaks.begin(), kErrorNaks.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, VerdictKind kind) { return sum + stream.count(kind); });
}

std::uint64_t retransmissions(const StreamSummary& stream) {
  const auto& causes = stream.retransmissions.entries();
  return std::accumulate(causes.begin(), causes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.count; });
}

double goodput(const StreamSummary& stream) {
  return bits_per_second(stream.directions[0].goodput_bytes + stream.directions[1].goodput_bytes,
                         stream.end - stream.start);
}

double bits_per_second(std::uint64_t bytes, Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return seconds > 0 ? static_cast<double>(bytes) * 8 / seconds : 0;
}

analysis::Histogram latencies(const StreamSummary& stream) {
  analysis::Histogram all = stream.directions[0].latency;
  all.merge(stream.directions[1].latency);
  return all;
}

bool is_worse(const StreamSummary& a, const StreamSummary& b) {
  const auto badness = [](const StreamSummary& stream) {
    std::uint64_t errors = 0;
    std::uint64_t warnings = 0;
    for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
      if (info.severity == Severity::error) errors += stream.count(info.kind);
      if (info.severity == Severity::warning) warnings += stream.count(info.kind);
    }
    return std::tuple{
        stream.count(VerdictKind::no_answer) + stream.count(VerdictKind::never_ready) + error_naks(stream), errors,
        warnings, stream.count(VerdictKind::ce_mark) + stream.count(VerdictKind::cnp),
        stream.directions[0].packets + stream.directions[1].packets};
  };
  return badness(a) > badness(b);
}

}  // namespace roce::analyze
