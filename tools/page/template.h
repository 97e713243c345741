// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "page/page.h"

namespace roce::page {

/// Returns a page without its data; empty if the build did not find what it consists of.
[[nodiscard]] std::string_view template_text(Kind kind);

}  // namespace roce::page
