// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "roce/wire/time.h"

namespace roce::live {

class Script;

/// Ends a script with a sentence that tells what went wrong.
class ScriptFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The common part of the promises of all tasks.
struct TaskPromise {
  Script* script = nullptr;
  std::coroutine_handle<> caller{};
  std::exception_ptr error{};

  struct Return {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <typename Promise>
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      const std::coroutine_handle<> next = ended.promise().caller;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] Return final_suspend() const noexcept { return {}; }
  void unhandled_exception() { error = std::current_exception(); }
};

template <typename T>
struct TaskResult : TaskPromise {
  std::optional<T> value{};
  void return_value(T result) { value = std::move(result); }
  T take() { return std::move(*value); }
};

template <>
struct TaskResult<void> : TaskPromise {
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

/// A conversation or a part of one, as a coroutine that begins when it is awaited with `co_await`. It is written like a
/// program that may block, and waits with `until`.
///
/// Everything that is passed to it by reference has to live until it has ended.
template <typename T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : detail::TaskResult<T> {
    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <typename Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    handle_.promise().script = caller.promise().script;
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return handle_.promise().take();
  }

 private:
  friend class Script;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

/// The condition that a script waits for, and its deadline.
struct Wait {
  Time deadline = kNever;
  bool happened = false;

  explicit Wait(Time until) : deadline(until) {}
  Wait(const Wait&) = default;
  Wait& operator=(const Wait&) = default;
  virtual ~Wait() = default;
  [[nodiscard]] virtual bool holds() = 0;
};

}  // namespace detail

/// Runs a task step by step, beside the other work of a thread.
class Script {
 public:
  explicit Script(Task<> task) : task_(std::move(task)) {
    task_.handle_.promise().script = this;
    resume_ = task_.handle_;
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  /// Continues the task if what it waits for has happened or its time is up; true if the task was continued.
  bool step(Time now);
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Returns why it failed; empty while it runs or if it did not fail.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Returns when `step` has to be called even if nothing has come.
  [[nodiscard]] Time next_timeout() const { return wait_ != nullptr ? wait_->deadline : kNever; }
  /// Returns the time of the step that runs.
  [[nodiscard]] Time now() const { return now_; }

  void wait_for(detail::Wait& wait, std::coroutine_handle<> resume) {
    wait_ = &wait;
    resume_ = resume;
  }

 private:
  Task<> task_;
  std::coroutine_handle<> resume_{};
  detail::Wait* wait_ = nullptr;  // lives in the coroutine that waits
  bool is_over_ = false;
  std::string error_;
  Time now_{};
};

/// `co_await until(condition)` resumes once `condition()` is true, which is checked at each step of the script;
/// `co_await until(condition, deadline)` resumes at the deadline at the latest. Yields true if the condition was met.
template <typename Condition>
class until : public detail::Wait {
 public:
  explicit until(Condition condition, Time limit = kNever) : Wait(limit), condition_(condition) {}

  [[nodiscard]] bool holds() override { return condition_(); }
  [[nodiscard]] bool await_ready() { return happened = condition_(); }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) {
    caller.promise().script->wait_for(*this, caller);
  }
  bool await_resume() const { return happened; }

 private:
  Condition condition_;
};

/// `co_await this_time{}` returns the time of the step that runs.
struct this_time {
  Script* script = nullptr;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <typename Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> caller) {
    script = caller.promise().script;
    return false;
  }
  [[nodiscard]] Time await_resume() const { return script->now(); }
};

}  // namespace roce::live
