// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "analyze/run/analysis_run.h"
#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// Returns the message of UD that a packet is. Nothing answers it, so that it has neither a number nor a latency. Empty
/// for other packets; connection management is not anybody's message.
[[nodiscard]] std::optional<analysis::Message> message_of_datagram(const AnalysedPacket& packet);

}  // namespace roce::analyze
