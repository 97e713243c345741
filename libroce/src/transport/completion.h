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
/// Completes the oldest send request.
void complete_send(DeviceState& device, Qp& qp, CompletionStatus status, std::uint8_t syndrome = 0);
/// Completes the receive that the responder holds.
void complete_receive(DeviceState& device, Qp& qp, const Completion& completion, bool solicited);
/// Takes a receive from the QP's own or shared queue; false if there is none.
[[nodiscard]] bool take_receive(DeviceState& device, Qp& qp);
/// Moves the QP to ERR and flushes its queues in order. Responses not yet sent are dropped unless `keep_answers`.
void enter_error(DeviceState& device, Qp& qp, bool keep_answers);
/// Moves the QPs of overflowed CQs to ERR.
void settle_overflows(DeviceState& device);

}  // namespace roce::transport::detail
