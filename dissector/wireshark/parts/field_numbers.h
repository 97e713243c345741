// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/fields.h"

namespace roce::plugin {

/// Numbers for the rows of the codec's field table, header by header in the table's order.
class FieldNumbers {
 public:
  FieldNumbers();

  /// Returns the number of a header's first field; the numbers of its other fields follow.
  [[nodiscard]] std::uint16_t first_of(HeaderId id) const { return first_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t size() const { return first_.back(); }

  [[nodiscard]] static const FieldNumbers& get();

 private:
  std::array<std::uint16_t, static_cast<std::size_t>(HeaderId::count) + 1> first_{};
};

/// True if the plugin shows a header. The others are link and network headers, for which Wireshark has dissectors.
[[nodiscard]] constexpr bool is_shown(HeaderId id) {
  const bool is_of_qcn = id == HeaderId::cn_tag || id == HeaderId::cnm;
  return id == HeaderId::grh || (id >= HeaderId::bth && id <= HeaderId::pause) || is_of_qcn;
}

}  // namespace roce::plugin
