// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

namespace roce::conform {

/// Returns text for the inside of an element or an attribute of XML or HTML: the characters that these reserve are
/// written out, and those that XML forbids are `?`.
[[nodiscard]] std::string markup_text(std::string_view text);

}  // namespace roce::conform
