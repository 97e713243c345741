// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "roce/analysis/lazy.h"

namespace roce::analysis {

/// A queue in an array with access by index from the front. The size of the array
/// is a power of two, at most 2^31. The array is allocated with the first element
/// and is never made smaller.
template <typename T>
class Ring {
 public:
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  [[nodiscard]] T& operator[](std::size_t i) { return slots_[(begin_ + i) & (capacity_ - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return slots_[(begin_ + i) & (capacity_ - 1)]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size() - 1]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] const T& back() const { return (*this)[size() - 1]; }

  /// Appends `value`; doubles the array if it is full.
  T& push_back(const T& value) {
    if (size() == capacity_) grow();
    T& slot = slots_[end_++ & (capacity_ - 1)];
    slot = value;
    return slot;
  }
  void pop_front() { ++begin_; }
  void clear() { begin_ = end_ = 0; }

  /// Inserts `value` before the element with index `i`; the elements on the
  /// shorter side of it are moved.
  T& insert(std::size_t i, const T& value) {
    if (size() == capacity_) grow();
    if (i < size() / 2) {
      --begin_;
      for (std::size_t at = 0; at < i; ++at) (*this)[at] = (*this)[at + 1];
    } else {
      ++end_;
      for (std::size_t at = size() - 1; at > i; --at) (*this)[at] = (*this)[at - 1];
    }
    return (*this)[i] = value;
  }
  void erase(std::size_t i) {
    if (i < size() / 2) {
      for (; i > 0; --i) (*this)[i] = (*this)[i - 1];
      ++begin_;
    } else {
      for (; i + 1 < size(); ++i) (*this)[i] = (*this)[i + 1];
      --end_;
    }
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 1 : slots_.size() * 2);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = (*this)[i];
    slots_ = std::move(larger);
    capacity_ = static_cast<std::uint32_t>(slots_.size());
    begin_ = 0;
    end_ = static_cast<std::uint32_t>(count);
  }

  std::vector<T> slots_;
  std::uint32_t capacity_ = 0;  ///< `slots_.size()`, which a vector has to calculate
  // Both wrap, as do the places in the array.
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
};

/// A Ring for what few streams ever need: it takes the space of a pointer until it is used.
template <typename T>
class RareRing {
 public:
  [[nodiscard]] std::size_t size() const { return ring_->size(); }
  [[nodiscard]] bool empty() const { return ring_->empty(); }

  [[nodiscard]] T& operator[](std::size_t i) { return ring_.make()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return (*ring_)[i]; }
  [[nodiscard]] T& front() { return ring_.make().front(); }
  [[nodiscard]] T& back() { return ring_.make().back(); }
  [[nodiscard]] const T& front() const { return ring_->front(); }
  [[nodiscard]] const T& back() const { return ring_->back(); }

  T& push_back(const T& value) { return ring_.make().push_back(value); }
  void pop_front() { ring_.make().pop_front(); }
  void clear() { ring_ = {}; }
  T& insert(std::size_t i, const T& value) { return ring_.make().insert(i, value); }
  void erase(std::size_t i) { ring_.make().erase(i); }

 private:
  Lazy<Ring<T>> ring_;
};

}  // namespace roce::analysis
