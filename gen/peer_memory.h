// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gen/failure.h"

namespace roce::gen {

/// How much memory the clients of a peer may have together. May be used by any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : limit_(bytes), left_(bytes) {}

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  /// False, and nothing is taken, where less is left.
  [[nodiscard]] bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { left_ += bytes; }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> left_;
};

/// Memory that is all zeros at first. Neither to get it nor to give it back takes long, however much it is: a page
/// is made when it is touched first, and they go a part at a time.
class PeerMemory {
 public:
  /// Failures: more than the budget has left, or than the kernel gives.
  [[nodiscard]] static Outcome<PeerMemory> make(const std::shared_ptr<MemoryBudget>& budget, std::uint64_t bytes);
  PeerMemory(PeerMemory&& other) noexcept;
  PeerMemory& operator=(PeerMemory&&) = delete;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  /// Gives all that is left back at once.
  ~PeerMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Gives back the last of it, about so many bytes; true once nothing is left.
  bool give_back(std::size_t most);

 private:
  PeerMemory(std::shared_ptr<MemoryBudget> budget, std::span<std::byte> bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}

  std::shared_ptr<MemoryBudget> budget_;
  std::span<std::byte> bytes_;
};

}  // namespace roce::gen
