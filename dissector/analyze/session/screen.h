// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "text/output.h"

namespace roce::analyze {

/// A terminal on which each text takes the place of the one before. What was there before comes back at the end.
class Screen {
 public:
  explicit Screen(text::Output& output) : output_(output) {}
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Shows as many lines of `text` as there is room for.
  void show(std::string_view text);

 private:
  text::Output& output_;
  bool is_used_ = false;
};

}  // namespace roce::analyze
