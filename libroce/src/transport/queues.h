// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roce/transport/verbs.h"

namespace roce::transport::detail {

/// A queue of fixed capacity in a ring buffer.
template <typename T>
class Ring {
 public:
  Ring() = default;
  explicit Ring(std::uint32_t capacity) : items_(std::bit_ceil(std::max(capacity, 1U))), capacity_(capacity) {}

  [[nodiscard]] std::uint32_t size() const { return tail_ - head_; }
  [[nodiscard]] bool empty() const { return tail_ == head_; }
  [[nodiscard]] bool full() const { return size() >= capacity_; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] T& front() { return items_[head_ & mask()]; }
  [[nodiscard]] T& back() { return items_[(tail_ - 1) & mask()]; }
  [[nodiscard]] T& operator[](std::uint32_t i) { return items_[(head_ + i) & mask()]; }
  /// Adds an item at the end and returns it, with the contents that its last user left; the ring must not be full.
  [[nodiscard]] T& push() { return items_[tail_++ & mask()]; }
  void pop() { ++head_; }
  void clear() { head_ = tail_; }
  [[nodiscard]] std::size_t bytes() const { return items_.size() * sizeof(T); }
  /// Removes the items for which `is_meant` is true.
  template <typename IsMeant>
  void remove_if(IsMeant&& is_meant) {
    std::uint32_t kept = head_;
    for (std::uint32_t i = head_; i != tail_; ++i) {
      if (!is_meant(items_[i & mask()])) items_[kept++ & mask()] = items_[i & mask()];
    }
    tail_ = kept;
  }
  /// Gives the ring another capacity, at least `size()`; the items stay.
  void resize(std::uint32_t capacity) {
    Ring other{capacity};
    for (std::uint32_t i = 0; i < size(); ++i) other.push() = (*this)[i];
    *this = std::move(other);
  }

 private:
  [[nodiscard]] std::uint32_t mask() const { return static_cast<std::uint32_t>(items_.size()) - 1; }

  std::vector<T> items_;
  std::uint32_t capacity_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
};

/// A completion queue (IBTA vol. 1, 10.8).
struct CompletionQueue {
  explicit CompletionQueue(std::uint32_t capacity) : ring(capacity) {}

  enum class Armed : std::uint8_t { no, any, solicited };

  Cq handle{};
  Ring<Completion> ring;
  Armed armed = Armed::no;
  bool has_untold = false;  ///< a completion came since the last event
  bool overflowed = false;
  std::uint32_t users = 0;  ///< number of QPs, counted once for each of the two uses, and of SRQs for XRC
};

/// A posted receive.
struct ReceiveWqe {
  std::uint64_t wr_id = 0;
  std::uint64_t length = 0;  ///< bytes of all SGEs together
  std::uint8_t sge_count = 0;
};

/// The number of receive queues of a priority that run low. A queue runs low once taking a receive leaves `low` or
/// fewer in it, until it has `enough` again or as many as it holds.
struct ReceiveLevel {
  std::uint32_t low = 0;
  std::uint32_t enough = 0;  ///< 0: the level is not in use
  std::uint32_t low_queues = 0;
};

/// Posted receives that wait for messages, of one QP or shared.
class ReceiveQueue {
 public:
  ReceiveQueue() = default;
  ReceiveQueue(std::uint32_t capacity, std::uint8_t max_sge)
      : ring_(capacity), sges_(std::size_t{std::bit_ceil(std::max(capacity, 1U))} * max_sge), max_sge_(max_sge) {}

  [[nodiscard]] bool empty() const { return ring_.empty(); }
  [[nodiscard]] bool full() const { return ring_.full(); }
  [[nodiscard]] std::uint32_t size() const { return ring_.size(); }
  [[nodiscard]] std::uint32_t capacity() const { return ring_.capacity(); }
  [[nodiscard]] std::uint8_t max_sge() const { return max_sge_; }
  [[nodiscard]] std::size_t bytes() const { return ring_.bytes() + sges_.size() * sizeof(Sge); }

  /// Adds a receive. The queue must not be full and the request must fit `max_sge`.
  void push(const ReceiveRequest& request) {
    const std::uint32_t slot = next_slot_++ & mask();
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < request.sges.size(); ++i) {
      sges_[std::size_t{slot} * max_sge_ + i] = request.sges[i];
      length += request.sges[i].length;
    }
    ring_.push() = {request.wr_id, length, static_cast<std::uint8_t>(request.sges.size())};
    if (is_low_ && (ring_.size() >= level_->enough || ring_.full())) set_low(false);
  }

  /// Takes the oldest receive; `sges` needs room for `max_sge`. The queue must not be empty.
  ReceiveWqe pop(std::span<Sge> sges) {
    const ReceiveWqe wqe = ring_.front();
    const std::uint32_t slot = (next_slot_ - ring_.size()) & mask();
    std::copy_n(sges_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * max_sge_), wqe.sge_count, sges.begin());
    ring_.pop();
    if (level_ != nullptr && !is_low_ && ring_.size() <= level_->low) set_low(true);
    return wqe;
  }

  void clear() { ring_.clear(); }

  /// Gives the queue another capacity, at least `size()`; the receives stay.
  void resize(std::uint32_t capacity) {
    ReceiveQueue other{capacity, max_sge_};
    std::vector<Sge> sges(max_sge_);
    for (std::uint32_t left = size(); left != 0; --left) {
      const std::uint32_t slot = (next_slot_ - ring_.size()) & mask();
      const ReceiveWqe& wqe = ring_.front();
      std::copy_n(sges_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * max_sge_), wqe.sge_count,
                  sges.begin());
      other.push({wqe.wr_id, std::span{sges}.first(wqe.sge_count)});
      ring_.pop();
    }
    ring_ = std::move(other.ring_);
    sges_ = std::move(other.sges_);
    next_slot_ = other.next_slot_;
    if (is_low_ && (ring_.size() >= level_->enough || ring_.full())) set_low(false);
  }

  /// From now on counts the queue in `level`, and in no other, while it runs low; nullptr: in none. The level must
  /// live as long as the queue, or until its next `watch`.
  void watch(ReceiveLevel* level) {
    if (is_low_) set_low(false);
    level_ = level;
  }
  [[nodiscard]] bool is_watched() const { return level_ != nullptr; }

 private:
  void set_low(bool low) {
    is_low_ = low;
    level_->low_queues += low ? 1 : ~std::uint32_t{0};
  }
  [[nodiscard]] std::uint32_t mask() const { return std::bit_ceil(std::max(ring_.capacity(), 1U)) - 1; }

  Ring<ReceiveWqe> ring_;
  std::vector<Sge> sges_;
  std::uint8_t max_sge_ = 0;
  bool is_low_ = false;
  std::uint32_t next_slot_ = 0;
  ReceiveLevel* level_ = nullptr;
};

/// A shared receive queue (IBTA vol. 1, 10.2.9).
struct SharedReceiveQueue {
  SharedReceiveQueue(std::uint32_t pd_index, std::uint32_t capacity, std::uint8_t max_sge)
      : pd(pd_index), queue(capacity, max_sge) {}

  Srq handle{};
  std::uint32_t pd;
  Pd pd_handle{};
  ReceiveQueue queue;
  std::uint32_t limit = 0;  ///< 0: not armed
  std::uint32_t users = 0;

  // Of one for XRC.
  Xrcd xrcd{};
  CompletionQueue* cq = nullptr;  ///< null if it is not for XRC
  XrcSrqn number{};
};

}  // namespace roce::transport::detail
