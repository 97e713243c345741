// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/transport/address.h"
#include "verbs/ibverbs/results.h"
#include "verbs/ibverbs/verbs_api.h"

namespace roce::verbs {

/// Returns the address vector of an `ibv_ah_attr`. EINVAL without a GRH, which RoCE always has, or for another port.
[[nodiscard]] OrErrno<transport::AddressVector> address_of(const ibv_ah_attr& attributes);
[[nodiscard]] ibv_ah_attr attributes_of(const transport::AddressVector& address, std::uint8_t service_level);
[[nodiscard]] Gid gid_of(const ibv_gid& gid);

}  // namespace roce::verbs
