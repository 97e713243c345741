// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/engine/exits.h"

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

void answer_all() {
  // A fork, or the handler of a signal, may have taken the owner of the lock away.
  const std::unique_lock lock{engines().mutex, std::try_to_lock};
  if (!lock.owns_lock()) return;
  for (Engine* const engine : engines().all) engine->answer();
}

}  // namespace

void answer_at_exit(Engine& engine) {
  // The handler goes with the library when a program unloads it.
  static const int registered = std::atexit(answer_all);
  (void)registered;
  const std::scoped_lock lock{engines().mutex};
  engines().all.push_back(&engine);
}

void forget(Engine& engine) {
  const std::scoped_lock lock{engines().mutex};
  std::erase(engines().all, &engine);
}

}  // namespace roce::verbs
