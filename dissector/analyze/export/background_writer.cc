// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/background_writer.h"

#include <utility>

namespace roce::analyze {

BackgroundWriter::BackgroundWriter(bool with_thread) {
  if (with_thread) thread_ = std::thread{[this] { work(); }};
}

BackgroundWriter::~BackgroundWriter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::add(std::function<void()> job) {
  if (!thread_.joinable()) return job();
  {
    const std::lock_guard lock{mutex_};
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void BackgroundWriter::wait() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return jobs_.empty() && !is_busy_; });
  if (failure_) std::rethrow_exception(failure_);
}

void BackgroundWriter::work() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    if (failure_) continue;
    is_busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    is_busy_ = false;
    failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace roce::analyze
