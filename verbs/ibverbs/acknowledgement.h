// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pthread.h>

namespace roce::verbs {

// CQs, SRQs and QPs count the events that the program has acknowledged, under a lock that is part of verbs.h.

/// Calls `count`, which adds to a counter of `object`, and wakes whoever waits for it.
template <typename Object, typename Count>
void acknowledge(Object& object, Count&& count) {
  ::pthread_mutex_lock(&object.mutex);
  count();
  ::pthread_cond_broadcast(&object.cond);
  ::pthread_mutex_unlock(&object.mutex);
}

/// Waits until `is_done`, then ends lock and condition: the object is about to be freed.
template <typename Object, typename IsDone>
void wait_for_acknowledgements(Object& object, IsDone&& is_done) {
  ::pthread_mutex_lock(&object.mutex);
  while (!is_done()) ::pthread_cond_wait(&object.cond, &object.mutex);
  ::pthread_mutex_unlock(&object.mutex);
  ::pthread_cond_destroy(&object.cond);
  ::pthread_mutex_destroy(&object.mutex);
}

}  // namespace roce::verbs
