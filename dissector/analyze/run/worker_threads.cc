// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/worker_threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <utility>

namespace roce::analyze {

namespace {

constexpr unsigned kMostThreads = 64;

// Waking a sleeping thread takes a tenth of a round, so a thread polls before it goes to sleep.
constexpr int kLooks = 400;

void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kLooks; ++i) {
    if (value != old) return;
    std::this_thread::yield();
  }
  value.wait(old);
}

std::vector<int> processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) found.push_back(processor);
  }
  return found;
}

}  // namespace

unsigned thread_count(unsigned wanted) {
  const auto most = std::clamp<unsigned>(static_cast<unsigned>(processors().size()), 1, kMostThreads);
  return wanted == 0 ? most : std::min(wanted, most);
}

WorkerThreads::WorkerThreads(unsigned count) {
  const std::vector<int> allowed = processors();
  for (unsigned i = 1; i < count; ++i) {
    threads_.emplace_back([this] { serve(); });
    if (allowed.empty()) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    // The first processor is left to the caller.
    CPU_SET(static_cast<std::size_t>(allowed[i % allowed.size()]), &own);
    // If this is refused, the scheduler places the thread.
    static_cast<void>(pthread_setaffinity_np(threads_.back().native_handle(), sizeof(own), &own));
  }
}

WorkerThreads::~WorkerThreads() {
  is_over_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  task_ = &task;
  count_ = count;
  next_ = 0;
  busy_ = static_cast<std::uint32_t>(threads_.size());
  ++round_;
  round_.notify_all();
  take_tasks();
  for (std::uint32_t busy = busy_; busy != 0; busy = busy_) wait_while(busy_, busy);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerThreads::serve() {
  for (std::uint32_t round = 0;;) {
    wait_while(round_, round);
    // A new round begins only when all threads have ended this one.
    ++round;
    if (is_over_) return;
    take_tasks();
    if (--busy_ == 0) busy_.notify_one();
  }
}

void WorkerThreads::take_tasks() {
  try {
    for (std::size_t i = next_++; i < count_; i = next_++) (*task_)(i);
  } catch (...) {
    const std::lock_guard lock{failure_mutex_};
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace roce::analyze
