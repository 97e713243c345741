// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace roce::analyze {

/// A queue that takes no memory while it is empty, and little for few elements: each stream of a capture has some, and
/// the first element of a std::deque costs half a kilobyte. Elements taken from the front are removed once they make up
/// half of the vector.
template <typename T>
class CompactQueue {
 public:
  [[nodiscard]] bool empty() const { return front_ == values_.size(); }
  [[nodiscard]] std::size_t size() const { return values_.size() - front_; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return values_[front_ + i]; }
  [[nodiscard]] const T& front() const { return values_[front_]; }
  [[nodiscard]] const T& back() const { return values_.back(); }
  [[nodiscard]] auto begin() const { return values_.begin() + static_cast<std::ptrdiff_t>(front_); }
  [[nodiscard]] auto end() const { return values_.end(); }

  void push_back(T value) { values_.push_back(std::move(value)); }
  void pop_back() {
    values_.pop_back();
    if (empty()) clear();
  }
  void pop_front() {
    ++front_;
    if (2 * front_ >= values_.size()) remove_taken();
  }
  void clear() {
    values_.clear();
    front_ = 0;
  }
  template <typename Predicate>
  void remove_if(Predicate predicate) {
    remove_taken();
    std::erase_if(values_, predicate);
  }

 private:
  void remove_taken() {
    values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(front_));
    front_ = 0;
  }

  std::vector<T> values_;
  std::size_t front_ = 0;  // index of the first element; the elements before it have been taken
};

}  // namespace roce::analyze
