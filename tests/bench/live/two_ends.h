// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

namespace roce::bench {

/// Keeps the calling thread on one CPU, where the machine has it.
inline void pin_to(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

/// Runs `far(stop)` on the second CPU until `near()` on the first is done; what either throws is thrown.
template <typename Near, typename Far>
void run_two_ends(const Near& near, const Far& far) {
  std::atomic<bool> stop{false};
  std::exception_ptr far_failure;
  std::exception_ptr near_failure;
  std::thread far_thread{[&] {
    pin_to(1);
    try {
      far(stop);
    } catch (...) {
      far_failure = std::current_exception();
    }
  }};
  // Threads of a process cannot choose for others, so this one goes too.
  std::thread near_thread{[&] {
    pin_to(0);
    try {
      near();
    } catch (...) {
      near_failure = std::current_exception();
    }
    stop = true;
  }};
  near_thread.join();
  far_thread.join();
  // The near end fails too where the far end is gone.
  if (far_failure) std::rethrow_exception(far_failure);
  if (near_failure) std::rethrow_exception(near_failure);
}

}  // namespace roce::bench
