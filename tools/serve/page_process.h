// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace roce::serve {

/// A process that makes a page of what this one knows at the moment, while this one goes on. This one must have only
/// one thread.
class PageProcess {
 public:
  PageProcess() = default;
  ~PageProcess();
  PageProcess(const PageProcess&) = delete;
  PageProcess& operator=(const PageProcess&) = delete;

  /// Calls `make` in a process of its own, which ends with it. Returns false if there can be no other process now.
  [[nodiscard]] bool begin(const std::function<std::string()>& make);
  [[nodiscard]] bool is_running() const { return child_ > 0; }
  /// Returns a descriptor that is readable once the process has ended; -1 if there is none.
  [[nodiscard]] int fd() const { return ended_; }
  /// To be called when `fd` is readable. Returns a descriptor of the page, which belongs to the caller; nothing if it
  /// could not be made.
  [[nodiscard]] std::optional<int> take();

 private:
  void forget();

  pid_t child_ = -1;
  int ended_ = -1;  ///< pidfd
  int page_ = -1;   ///< file in memory that both processes have
};

}  // namespace roce::serve
