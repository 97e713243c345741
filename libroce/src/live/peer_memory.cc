// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/peer_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::live {

namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

bool MemoryBudget::take(std::uint64_t bytes) {
  std::uint64_t left = left_;
  while (left >= bytes) {
    if (left_.compare_exchange_weak(left, left - bytes)) return true;
  }
  return false;
}

Result<PeerMemory> PeerMemory::make(const std::shared_ptr<MemoryBudget>& budget, std::uint64_t bytes) {
  if (!budget->take(bytes)) {
    return failed(
        fmt::format("{} bytes are more than the {} that are left of the {} that all clients of this peer have "
                    "together; start it with a larger --memory-limit",
                    bytes, budget->left(), budget->limit()));
  }
  void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    const int error = errno;
    budget->give_back(bytes);
    return failed(fmt::format("the peer's machine does not give {} bytes: {}", bytes, std::strerror(error)));
  }
  return PeerMemory{budget, {static_cast<std::byte*>(place), bytes}};
}

PeerMemory::PeerMemory(PeerMemory&& other) noexcept
    : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, {})) {}

PeerMemory::~PeerMemory() {
  (void)give_back(bytes_.size());
}

bool PeerMemory::give_back(std::size_t most) {
  if (bytes_.empty()) return true;
  const std::size_t kept = bytes_.size() > most ? (bytes_.size() - most) / kPage * kPage : 0;
  const std::size_t gone = bytes_.size() - kept;
  (void)::munmap(bytes_.data() + kept, gone);
  bytes_ = bytes_.first(kept);
  budget_->give_back(gone);
  return bytes_.empty();
}

}  // namespace roce::live
