// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// The NAKs that end a connection.
inline constexpr std::array kErrorNaks{
    analysis::VerdictKind::nak_invalid_request, analysis::VerdictKind::nak_remote_access_error,
    analysis::VerdictKind::nak_remote_operational_error, analysis::VerdictKind::nak_invalid_rd_request};

[[nodiscard]] bool is_connected(const analysis::StreamSummary& stream);
[[nodiscard]] std::uint64_t error_naks(const analysis::StreamSummary& stream);
/// Returns the number of request packets that were sent again.
[[nodiscard]] std::uint64_t retransmissions(const analysis::StreamSummary& stream);
/// Returns the payload that arrived in both directions, in bits per second; 0 if no time passed.
[[nodiscard]] double goodput(const analysis::StreamSummary& stream);
/// Returns a rate; 0 if `time` is not positive.
[[nodiscard]] double bits_per_second(std::uint64_t bytes, Duration time);
/// Returns the latencies of the completed messages of both ends.
[[nodiscard]] analysis::Histogram latencies(const analysis::StreamSummary& stream);
/// True if `a` deserves attention before `b`.
[[nodiscard]] bool is_worse(const analysis::StreamSummary& a, const analysis::StreamSummary& b);

}  // namespace roce::analyze
