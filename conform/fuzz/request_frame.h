// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/device_model.h"
#include "conform/fuzz/program.h"

namespace roce::conform::fuzz {

/// Builds the frame of a request to a QP of this port, for the moment that the model is in. A field change that does
/// not fit the frame, such as one of a header that it does not have, is left out.
[[nodiscard]] std::vector<std::byte> build_request(const Request& request, const DeviceModel& model, const Bench& bench,
                                                   const Port& port);

/// Builds the frame of a response to a QP of the device, with a PSN.
[[nodiscard]] std::vector<std::byte> build_response(const Response& response, Psn psn, Qpn dest_qp, const Port& port);

/// True if a frame has the mark of congestion, CE: the device may answer it with a CNP.
[[nodiscard]] bool is_marked(const std::vector<std::byte>& frame);

}  // namespace roce::conform::fuzz
