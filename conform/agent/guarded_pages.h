// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roce/live/peer_memory.h"
#include "roce/live/result.h"

namespace roce::conform {

/// Memory of all zeros in pages of its own, between two pages that nobody may touch: an access beyond its pages is a
/// fault, and does not meet other memory of this program.
class GuardedPages {
 public:
  /// Takes `bytes` from the budget, which has to outlive the pages. Failures: more than the budget has left, or than
  /// the kernel gives.
  [[nodiscard]] static live::Result<GuardedPages> make(live::MemoryBudget& budget, std::uint64_t bytes);
  GuardedPages(GuardedPages&& other) noexcept;
  GuardedPages& operator=(GuardedPages&&) = delete;
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  ~GuardedPages();

  /// Returns the bytes that were asked for; they begin at the beginning of a page.
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  GuardedPages(live::MemoryBudget& budget, std::span<std::byte> bytes) : budget_(&budget), bytes_(bytes) {}

  live::MemoryBudget* budget_;
  std::span<std::byte> bytes_;
};

}  // namespace roce::conform
