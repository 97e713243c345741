// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "roce/live/result.h"

namespace roce::live {

/// The memory that all clients of a peer may have together. May be used by any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : limit_(bytes), left_(bytes) {}

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  /// Takes `bytes` from the budget; false if less is left, and then nothing is taken.
  [[nodiscard]] bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { left_ += bytes; }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> left_;
};

/// Memory that is all zeros at first. Getting it and giving it back never takes long, however much it is: a page is
/// made when it is first touched, and pages are given back a part at a time.
class PeerMemory {
 public:
  /// Takes `bytes` from the budget. Failures: more than it has left, or than the kernel gives.
  [[nodiscard]] static Result<PeerMemory> make(const std::shared_ptr<MemoryBudget>& budget, std::uint64_t bytes);
  PeerMemory(PeerMemory&& other) noexcept;
  PeerMemory& operator=(PeerMemory&&) = delete;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  /// Gives back all that is left, at once.
  ~PeerMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Gives back about `most` bytes at the end of the memory; true once nothing is left.
  bool give_back(std::size_t most);

 private:
  PeerMemory(std::shared_ptr<MemoryBudget> budget, std::span<std::byte> bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}

  std::shared_ptr<MemoryBudget> budget_;
  std::span<std::byte> bytes_;
};

}  // namespace roce::live
