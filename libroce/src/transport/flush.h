// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::transport::detail {

struct DeviceState;
struct Qp;

/// Moves the QP to ERR and flushes its queues in order. Responses not yet sent are dropped unless `keep_answers`.
void enter_error(DeviceState& device, Qp& qp, bool keep_answers);
/// Moves the QPs of overflowed CQs to ERR.
void settle_overflows(DeviceState& device);

}  // namespace roce::transport::detail
