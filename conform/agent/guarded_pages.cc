// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/guarded_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::conform {

namespace {

[[nodiscard]] std::size_t page() {
  static const auto kBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return kBytes;
}

[[nodiscard]] std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page() - 1) / page() * page();
}

}  // namespace

live::Result<GuardedPages> GuardedPages::make(live::MemoryBudget& budget, std::uint64_t bytes) {
  if (!budget.take(bytes)) {
    return live::failed(
        fmt::format("{} bytes are more than the {} that are left of the {} that all clients of this agent have "
                    "together; start it with a larger --memory-limit",
                    bytes, budget.left(), budget.limit()));
  }
  const std::size_t middle = whole_pages(bytes);
  void* const place = ::mmap(nullptr, middle + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place != MAP_FAILED) {
    std::byte* const first = static_cast<std::byte*>(place) + page();
    if (::mprotect(first, middle, PROT_READ | PROT_WRITE) == 0) return GuardedPages{budget, {first, bytes}};
  }
  const int error = errno;
  if (place != MAP_FAILED) (void)::munmap(place, middle + 2 * page());
  budget.give_back(bytes);
  return live::failed(fmt::format("the agent's machine does not give {} bytes: {}", bytes, std::strerror(error)));
}

GuardedPages::GuardedPages(GuardedPages&& other) noexcept
    : budget_(other.budget_), bytes_(std::exchange(other.bytes_, {})) {}

GuardedPages::~GuardedPages() {
  if (bytes_.empty()) return;
  (void)::munmap(bytes_.data() - page(), whole_pages(bytes_.size()) + 2 * page());
  budget_->give_back(bytes_.size());
}

}  // namespace roce::conform
