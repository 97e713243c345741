// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

namespace roce::page {

/// Returns the page without its data; empty if the build did not find what it consists of.
[[nodiscard]] std::string_view template_text();

}  // namespace roce::page
