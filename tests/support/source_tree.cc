// SPDX-License-Identifier: BSD-2-Clause
#include "source_tree.h"

namespace roce::test {

std::string source_folder() {
  return ROCE_SOURCE_DIR;
}

std::string captures_folder() {
  return source_folder() + "/captures";
}

}  // namespace roce::test
