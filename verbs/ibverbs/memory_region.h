// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "verbs/ibverbs/results.h"
#include "verbs/ibverbs/verbs_api.h"

namespace roce::verbs {

/// Memory of this process, and what is allowed with it.
struct Memory {
  void* address = nullptr;
  std::size_t length = 0;
  std::optional<std::uint64_t> start{};  ///< address of its first byte for its users; without one, that which it has
  unsigned access = 0;                   ///< IBV_ACCESS_*
};

/// Registers memory. Errors: EFAULT if a part is not mapped, or not writable although `access` asks for it; EINVAL for
/// rights that regions do not have.
[[nodiscard]] OrErrno<ibv_mr*> register_memory(ibv_pd* pd, const Memory& memory);

}  // namespace roce::verbs
