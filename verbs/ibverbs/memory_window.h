// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "verbs/ibverbs/objects.h"

namespace roce::verbs {

/// Returns the binding that a request to bind `mw` makes. A window of type 2 gets the low byte of `r_key`.
[[nodiscard]] transport::MwBinding binding_of(const ibv_mw& mw, std::uint32_t r_key, const ibv_mw_bind_info& info);

}  // namespace roce::verbs
