// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/engine/exits.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "verbs/engine/engine.h"

namespace roce::verbs {

namespace {

struct Engines {
  std::mutex mutex;
  std::vector<Engine*> all;
};

/// Never destroyed: a program may close a device in a destructor of its own.
[[nodiscard]] Engines& engines() {
  static auto& only = *new Engines;
  return only;
}

/// Lets a fork wait for the lock, so that the child does not find it taken for ever.
void keep_lock_over_forks() {
  (void)::pthread_atfork([] { engines().mutex.lock(); }, [] { engines().mutex.unlock(); },
                         [] { engines().mutex.unlock(); });
}

void answer_all() {
  // The handler of a signal may have interrupted the owner of the lock.
  const std::unique_lock lock{engines().mutex, std::try_to_lock};
  if (!lock.owns_lock()) return;
  for (Engine* const engine : engines().all) engine->answer();
}

}  // namespace

void answer_at_exit(Engine& engine) {
  static const int registered = (keep_lock_over_forks(), std::atexit(answer_all));
  (void)registered;
  const std::scoped_lock lock{engines().mutex};
  engines().all.push_back(&engine);
}

void forget(Engine& engine) {
  const std::scoped_lock lock{engines().mutex};
  std::erase(engines().all, &engine);
}

}  // namespace roce::verbs
