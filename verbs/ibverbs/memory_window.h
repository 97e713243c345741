// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "verbs/ibverbs/objects.h"

namespace roce::verbs {

/// Returns the key of `mw` after a request that asks for `r_key`: the low byte is the program's, the rest the window's.
[[nodiscard]] std::uint32_t key_after_bind(const ibv_mw& mw, std::uint32_t r_key);
/// Returns the binding that a request to bind `mw` makes. A window of type 2 gets the low byte of `r_key`.
[[nodiscard]] transport::MwBinding binding_of(const ibv_mw& mw, std::uint32_t r_key, const ibv_mw_bind_info& info);

}  // namespace roce::verbs
