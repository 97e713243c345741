// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::transport::detail {

struct DeviceState;
struct Qp;

/// Moves the QP to ERR and flushes its queues in order. Responses that wait to be sent stay: all if `keep_reads`, else
/// those of `keep_executed`.
void enter_error(DeviceState& device, Qp& qp, bool keep_reads);
/// Moves the QPs of overflowed CQs to ERR.
void settle_overflows(DeviceState& device);

}  // namespace roce::transport::detail
