// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "analyze/names/names.h"
#include "analyze/report/json_values.h"
#include "analyze/run/nvme_figures.h"

namespace roce::analyze {

/// Returns the operation of a command of a queue.
[[nodiscard]] NvmeOperation operation_of(const NvmeCommand& command, const analysis::NvmeQueue& queue);
/// Returns the name of an operation as the specification has it, or its code: `Read`, `0xc0`.
[[nodiscard]] std::string operation_text(NvmeOperation operation);
/// `admin`, `3`; `?` if the set-up of the queue is not in the capture.
[[nodiscard]] std::string queue_text(const analysis::NvmeQueue& queue);
/// Returns why a command was slow, in words: `loss`, `RNR`, `waiting for data`, `target`, `transfer`.
[[nodiscard]] std::string_view delay_text(analysis::NvmeDelay delay);

/// Returns everything about a queue but its capture point.
[[nodiscard]] OrderedJson nvme_queue_json(const analysis::NvmeQueue& queue, const NvmeQueueFigures& figures,
                                          const Names& names, const SeenFiles& files);
/// Returns everything about one command of a queue.
[[nodiscard]] OrderedJson nvme_command_json(const analysis::NvmeExchange& exchange, const analysis::NvmeQueue& queue,
                                            const SeenFiles& files);

}  // namespace roce::analyze
