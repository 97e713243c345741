// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::runtime {

/// Makes SIGINT and SIGTERM something to poll for, from its construction on.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Returns a descriptor that is readable once one of them came.
  [[nodiscard]] int fd() const { return fd_; }
  /// True if one of them came since the last call.
  [[nodiscard]] bool take();

 private:
  int fd_;
};

}  // namespace roce::runtime
