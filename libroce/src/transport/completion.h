// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/transport/verbs.h"

namespace roce::transport::detail {

struct CompletionQueue;
struct DeviceState;
struct Qp;

/// Puts a completion into a CQ; an overflow is left to `settle_overflows`.
void push_completion(DeviceState& device, CompletionQueue& cq, const Completion& completion, bool solicited);
/// Makes the event of an armed CQ, which is not armed then.
void tell(DeviceState& device, CompletionQueue& cq);
/// Completes the oldest send request.
void complete_send(DeviceState& device, Qp& qp, CompletionStatus status, std::uint8_t syndrome = 0);
/// Completes the receive that the responder holds.
void complete_receive(DeviceState& device, Qp& qp, const Completion& completion, bool solicited);

}  // namespace roce::transport::detail
