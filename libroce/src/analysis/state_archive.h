// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/aggregate_members.h"
#include "analysis/ring.h"
#include "roce/analysis/lazy.h"
#include "roce/analysis/state_error.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// The value after the last enumerator, for enumerations that are saved.
template <typename E>
inline constexpr std::uint64_t kEnumEnd = 0;

/// Saves and reads types with private members: `transfer(archive, value)` does both.
template <typename T>
struct StateAccess;

/// True if a value that was read is possible; overloaded for types that have impossible values.
template <typename T>
[[nodiscard]] bool is_possible(const T& /*value*/) {
  return true;
}

/// Times stay within this, and long PSNs within half of it, so that no sum or difference of two overflows 64 bits.
inline constexpr std::int64_t kFarthest = std::int64_t{1} << 62U;

/// Writes values one after the other: numbers in groups of seven bits, the lowest first; signed ones in zigzag form.
class StateWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<std::byte>(value | 0x80U));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
  }

  template <typename T>
  void operator()(const T& value);

  /// Returns what was written, as the payload of a state of this `kind` (four letters).
  [[nodiscard]] std::vector<std::byte> sealed(std::string_view kind) &&;

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a StateWriter wrote. After the first impossible value all others are 0; `end` returns that error.
class StateReader {
 public:
  /// Checks kind, version, length and checksum of the whole state.
  StateReader(Bytes state, std::string_view kind);

  [[nodiscard]] std::uint64_t number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  [[nodiscard]] std::int64_t signed_number() {
    const std::uint64_t zigzag = number();
    return static_cast<std::int64_t>(zigzag >> 1U) ^ -static_cast<std::int64_t>(zigzag & 1U);
  }
  /// Returns how many elements follow, each of which takes at least one byte.
  [[nodiscard]] std::size_t count(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return static_cast<std::size_t>(number(std::min(most, bytes_.size() - at_)));
  }

  template <typename T>
  void operator()(T& value);
  template <typename T>
  [[nodiscard]] T read() {
    T value{};
    (*this)(value);
    return value;
  }

  void refuse() { fail({StateError::Reason::impossible, at_, 0, 0}); }
  [[nodiscard]] bool has_failed() const { return error_.has_value(); }
  /// Returns the first error, if there was one; unread bytes are an error, too.
  [[nodiscard]] tl::expected<void, StateError> end();

 private:
  void fail(const StateError& error) {
    if (!error_) error_ = error;
    at_ = bytes_.size();
  }

  Bytes bytes_;
  std::size_t at_ = 0;
  std::optional<StateError> error_;
};

namespace archive {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsLazy = false;
template <typename T>
inline constexpr bool kIsLazy<Lazy<T>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;
template <typename T>
inline constexpr bool kIsRow = false;
template <typename T>
inline constexpr bool kIsRow<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsRow<Ring<T>> = true;
template <typename T>
inline constexpr bool kIsRow<RareRing<T>> = true;

/// QPNs, PSNs and other numbers with a type of their own.
template <typename T>
concept WireNumber = requires(const T value, typename T::rep rep) {
  { value.value() } -> std::same_as<typename T::rep>;
  T{rep};
};

template <typename T, typename Archive>
concept Archived =
    requires(Archive& archive, T& value) { StateAccess<std::remove_const_t<T>>::transfer(archive, value); };

}  // namespace archive

template <typename T>
void StateWriter::operator()(const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    // Pointers to other objects are set anew when the state is loaded.
  } else if constexpr (std::is_enum_v<T>) {
    number(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_signed_v<T>) {
    signed_number(value);
  } else if constexpr (std::is_integral_v<T>) {
    number(value);
  } else if constexpr (std::is_same_v<T, Duration>) {
    signed_number(value.count());
  } else if constexpr (std::is_same_v<T, Time>) {
    signed_number(value.time_since_epoch().count());
  } else if constexpr (archive::WireNumber<T>) {
    number(value.value());
  } else if constexpr (archive::kIsOptional<T>) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  } else if constexpr (archive::kIsLazy<T>) {
    (*this)(static_cast<bool>(value));
    if (value) (*this)(*value);
  } else if constexpr (archive::kIsArray<T>) {
    for (const auto& each : value) (*this)(each);
  } else if constexpr (archive::kIsRow<T>) {
    number(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) (*this)(value[i]);
  } else if constexpr (archive::Archived<const T, StateWriter>) {
    StateAccess<T>::transfer(*this, value);
  } else {
    std::apply([this](const auto&... each) { ((*this)(each), ...); }, members_of(value));
  }
}

template <typename T>
void StateReader::operator()(T& value) {
  if constexpr (std::is_pointer_v<T>) {
    value = nullptr;
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(kEnumEnd<T> != 0);
    value = static_cast<T>(number(kEnumEnd<T> - 1));
  } else if constexpr (std::is_same_v<T, bool>) {
    value = number(1) != 0;
  } else if constexpr (std::is_signed_v<T>) {
    static_assert(std::is_same_v<T, std::int64_t>);
    value = signed_number();
    if (value <= -kFarthest / 2 || value >= kFarthest / 2) refuse();
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(number(std::numeric_limits<T>::max()));
  } else if constexpr (std::is_same_v<T, Duration>) {
    value = Duration{signed_number()};
  } else if constexpr (std::is_same_v<T, Time>) {
    value = Time{Duration{std::clamp(signed_number(), -kFarthest, kFarthest)}};
  } else if constexpr (archive::WireNumber<T>) {
    value = T{static_cast<typename T::rep>(number(std::numeric_limits<typename T::rep>::max()))};
  } else if constexpr (archive::kIsOptional<T>) {
    value.reset();
    if (read<bool>()) (*this)(value.emplace());
  } else if constexpr (archive::kIsLazy<T>) {
    value = {};
    if (read<bool>()) (*this)(value.make());
  } else if constexpr (archive::kIsArray<T>) {
    for (auto& each : value) (*this)(each);
  } else if constexpr (archive::kIsRow<T>) {
    value.clear();
    for (std::size_t left = count(); left != 0 && !has_failed(); --left) {
      value.push_back(read<std::remove_cvref_t<decltype(value[0])>>());
    }
  } else if constexpr (archive::Archived<T, StateReader>) {
    StateAccess<T>::transfer(*this, value);
  } else {
    std::apply([this](auto&... each) { ((*this)(each), ...); }, members_of(value));
  }
  if (!is_possible(value)) refuse();
}

}  // namespace roce::analysis
