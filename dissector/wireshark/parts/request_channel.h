// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roce::plugin {

/// The requests of one direction of a stream, with the responses to them.
struct RequestChannel {
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;  ///< of the requests
};

/// A value for each channel, by the numbers of streams, which are dense.
template <typename T>
class PerChannel {
 public:
  [[nodiscard]] T& operator[](RequestChannel channel) {
    const std::size_t index = index_of(channel);
    if (values_.size() <= index) values_.resize(index + 1);
    return values_[index];
  }
  /// Returns null if nothing was set for a channel or for any later one.
  [[nodiscard]] const T* find(RequestChannel channel) const {
    const std::size_t index = index_of(channel);
    return index < values_.size() ? &values_[index] : nullptr;
  }
  /// Gives the value of one channel to another one: they proved to be the same.
  void move(RequestChannel from, RequestChannel to) {
    T value = std::exchange((*this)[from], T{});
    (*this)[to] = std::move(value);
  }

 private:
  static std::size_t index_of(RequestChannel channel) {
    return std::size_t{channel.stream} * 2 + (channel.direction & 1U);
  }

  std::vector<T> values_;
};

}  // namespace roce::plugin
