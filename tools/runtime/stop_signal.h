// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::runtime {

/// SIGINT and SIGTERM as something to poll for, from its making on.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Readable when one came.
  [[nodiscard]] int fd() const { return fd_; }
  /// Whether one came since the last call.
  [[nodiscard]] bool take();

 private:
  int fd_;
};

}  // namespace roce::runtime
