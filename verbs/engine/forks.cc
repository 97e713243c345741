// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/engine/forks.h"

#include <pthread.h>

#include <atomic>

namespace roce::verbs {

namespace {

std::atomic<std::uint32_t> forks = 0;

void count_fork() {
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t fork_count() {
  // The handler goes with the library when a program unloads it.
  static const int registered = ::pthread_atfork(nullptr, nullptr, count_fork);
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

}  // namespace roce::verbs
