// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <utility>

namespace roce::analysis {

/// A value that takes no memory until it is first changed; until then it reads as a `T{}`. Copies are deep.
template <typename T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy& other) : value_(other.value_ == nullptr ? nullptr : std::make_unique<T>(*other.value_)) {}
  Lazy(Lazy&&) noexcept = default;
  Lazy& operator=(const Lazy& other) {
    if (this != &other) *this = Lazy{other};
    return *this;
  }
  Lazy& operator=(Lazy&&) noexcept = default;
  ~Lazy() = default;

  /// True if the value was made.
  [[nodiscard]] explicit operator bool() const { return value_ != nullptr; }
  [[nodiscard]] const T& operator*() const { return value_ == nullptr ? kUnmade : *value_; }
  [[nodiscard]] const T* operator->() const { return &**this; }
  /// Returns the value for changing; makes it if needed. It keeps its address as long as the Lazy lives, moved or not.
  [[nodiscard]] T& make() {
    if (value_ == nullptr) value_ = std::make_unique<T>();
    return *value_;
  }

  friend bool operator==(const Lazy& a, const Lazy& b) { return *a == *b; }

 private:
  static inline const T kUnmade{};

  std::unique_ptr<T> value_;
};

}  // namespace roce::analysis
