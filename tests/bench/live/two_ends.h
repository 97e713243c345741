// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

namespace roce::bench {

/// Pins the calling thread to one CPU, if the machine has that CPU.
inline void pin_to(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

/// Runs `far(stop)` on the second CPU until `near()` on the first is done; rethrows what either throws.
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
  // The near end has a thread of its own too, so that the caller's thread is not pinned.
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
  // If the far end fails, the near end fails too, so the error of the far end comes first.
  if (far_failure) std::rethrow_exception(far_failure);
  if (near_failure) std::rethrow_exception(near_failure);
}

}  // namespace roce::bench
