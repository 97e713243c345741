// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <coroutine>
#include <cstdint>

#include "roce/live/script.h"

namespace roce::live {

/// `co_await patiently(condition, progress, silence)` resumes once `condition()` is true, or when `progress()`, a
/// number, has not changed for at least `silence` and at most twice that. Its value is true if the condition was met.
template <typename Condition, typename Progress>
class patiently : public detail::Wait {
 public:
  patiently(Condition condition, Progress progress, Duration silence)
      : Wait(kNever), condition_(condition), progress_(progress), silence_(silence) {}

  [[nodiscard]] bool holds() override {
    if (condition_()) return true;
    if (script_->now() < deadline) return false;
    const std::uint64_t now = progress_();
    if (now != last_) deadline = script_->now() + silence_;
    last_ = now;
    return false;
  }
  [[nodiscard]] bool await_ready() { return happened = condition_(); }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) {
    script_ = caller.promise().script;
    last_ = progress_();
    deadline = script_->now() + silence_;
    script_->wait_for(*this, caller);
  }
  bool await_resume() const { return happened; }

 private:
  Condition condition_;
  Progress progress_;
  Duration silence_;
  Script* script_ = nullptr;
  std::uint64_t last_ = 0;
};

}  // namespace roce::live
