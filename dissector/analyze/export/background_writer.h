// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace roce::analyze {

/// Does jobs in their order in a thread of its own, so that one batch is encoded while the next one fills.
class BackgroundWriter {
 public:
  /// `with_thread`: if not, each job is done at once.
  explicit BackgroundWriter(bool with_thread);
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  /// Does the jobs that are left.
  ~BackgroundWriter();

  void add(std::function<void()> job);
  /// Returns when all jobs are done. Throws what the first job threw that failed; the ones after it were not done.
  void wait();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::exception_ptr failure_;
  bool is_busy_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace roce::analyze
