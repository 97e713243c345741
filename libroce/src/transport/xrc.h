// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/packet.h"
#include "transport/device_state.h"

namespace roce::transport::detail {

/// Makes the SRQ that a request names the one of its XRC target, with the PD and CQ that it has. False, with nothing
/// changed, if the target must not use it.
[[nodiscard]] bool select_srq(const DeviceState& device, Qp& qp, const Packet& request);
/// Takes an SRQ for XRC that is destroyed from its domain, its CQ and the targets that used it last.
void detach_srq(DeviceState& device, const SharedReceiveQueue& srq);

}  // namespace roce::transport::detail
