// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "transport/device_state.h"

namespace roce::transport::detail {

/// True if both name the same partition and at least one side is a full member (IBTA vol. 1, 10.9.3; QP-04).
[[nodiscard]] bool p_keys_match(PKey a, PKey b);
/// Counts a packet that a QP takes.
void count_received(Qp& qp, const Packet& packet);
/// Reports that a connection is established if this is the first packet for its QP, and that is in RTR.
void note_established(DeviceState& device, Qp& qp);

}  // namespace roce::transport::detail
