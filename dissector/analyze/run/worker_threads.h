// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace roce::analyze {

/// Returns the number of threads to use: `wanted`, or if that is 0 the number of processors that this process may run
/// on; at most that number, and at most 64.
[[nodiscard]] unsigned thread_count(unsigned wanted);

/// Threads that wait for work. Each is bound to a processor of its own among those that the process may run on.
class WorkerThreads {
 public:
  /// `count`: the number of threads, including the caller.
  explicit WorkerThreads(unsigned count);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();

  /// Calls `task(i)` once for each i below `count`, started in this order and spread over all threads, and returns when
  /// all calls have returned. Then the first exception that a call threw is thrown again.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  void serve();
  void take_tasks();

  std::vector<std::thread> threads_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> busy_{0};
  bool is_over_ = false;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace roce::analyze
