// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace roce::analyze {

/// Something about each of so many streams, those that needed it first, found at once by their numbers.
template <typename Value>
class ByStream {
 public:
  /// `most`: values that there are at most. Numbers reach four times as far, since streams that others take over have
  /// some of them.
  explicit ByStream(std::size_t most) : most_(most) {}

  [[nodiscard]] Value* find(std::uint32_t stream) const {
    return stream < values_.size() ? values_[stream].get() : nullptr;
  }
  /// Returns the value of a stream, a new one if it had none; null if there is no room.
  Value* find_or_make(std::uint32_t stream) {
    if (Value* const found = find(stream)) return found;
    if (count_ == most_ || stream / 4 >= most_) return nullptr;
    if (stream >= values_.size()) values_.resize(stream + std::size_t{1});
    values_[stream] = std::make_unique<Value>();
    ++count_;
    return values_[stream].get();
  }
  /// Calls `visit` with each value.
  template <typename Visitor>
  void for_each(const Visitor& visit) {
    for (const std::unique_ptr<Value>& each : values_) {
      if (each != nullptr) visit(*each);
    }
  }
  /// Takes a value out; null if there is none.
  std::unique_ptr<Value> extract(std::uint32_t stream) {
    if (find(stream) == nullptr) return nullptr;
    --count_;
    return std::exchange(values_[stream], nullptr);
  }

 private:
  std::size_t most_;
  std::size_t count_ = 0;
  std::vector<std::unique_ptr<Value>> values_;
};

}  // namespace roce::analyze
