// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/field_numbers.h"

namespace roce::plugin {

FieldNumbers::FieldNumbers() {
  std::size_t number = 0;
  for (std::size_t id = 0; id < static_cast<std::size_t>(HeaderId::count); ++id) {
    first_[id] = static_cast<std::uint16_t>(number);
    number += header_info(static_cast<HeaderId>(id)).fields.size();
  }
  first_.back() = static_cast<std::uint16_t>(number);
}

const FieldNumbers& FieldNumbers::get() {
  static const FieldNumbers numbers;
  return numbers;
}

}  // namespace roce::plugin
