// SPDX-License-Identifier: BSD-2-Clause
// For builds without the parts that come by npm.
#include "page/template.h"

namespace roce::page {

std::string_view template_text(Kind /*kind*/) {
  return {};
}

}  // namespace roce::page
