// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits.h>

namespace roce::verbs {

/// A file that a program opens. If it is that of a counter, the program gets one of its own, with the number of this
/// moment; any other is as it is.
class CounterFile {
 public:
  /// `path` is in the tree below `root`; either may be null.
  CounterFile(const char* root, const char* path);
  CounterFile(const CounterFile&) = delete;
  CounterFile& operator=(const CounterFile&) = delete;
  ~CounterFile();

  /// Returns the path to be opened.
  [[nodiscard]] const char* path() const { return path_; }

 private:
  const char* path_;
  int descriptor_ = -1;
  char own_[32];  // a path below /proc
};

}  // namespace roce::verbs
