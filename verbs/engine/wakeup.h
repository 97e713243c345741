// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::verbs {

/// A descriptor that becomes readable when another thread calls `ring`.
class Wakeup {
 public:
  /// Throws std::system_error if there is no descriptor left.
  Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  ~Wakeup();

  void ring() const;
  /// Makes the descriptor unreadable until the next `ring`.
  void clear() const;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace roce::verbs
