// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/time.h"

namespace roce::transport::detail {

class Emitter;
struct DeviceState;
struct Qp;

/// Leaves only those responses of a QP to be sent that need no memory: the ACK that it holds back is queued, the first
/// READ of data is dropped with all responses behind it, which must not overtake it.
void keep_executed(DeviceState& device, Qp& qp);
/// Takes over what a QP that is about to be gone, or to forget its connection, still owes its peer.
void leave_answers(DeviceState& device, Qp& qp);
/// Lets those responses of QPs that are gone go on that wait for a neighbour.
void wake_left_answers(DeviceState& device);
/// True if there are responses of QPs that are gone, which wait neither for a neighbour nor for a paused class.
[[nodiscard]] bool has_left_answers(const DeviceState& device);
/// Sends the responses of QPs that are gone; false if there is no room.
[[nodiscard]] bool serve_left_answers(DeviceState& device, Emitter& out, Time now);

}  // namespace roce::transport::detail
