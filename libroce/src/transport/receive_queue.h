// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::transport::detail {

struct DeviceState;
struct Qp;

/// Takes a receive from the QP's own or shared queue; false if there is none.
[[nodiscard]] bool take_receive(DeviceState& device, Qp& qp);

}  // namespace roce::transport::detail
