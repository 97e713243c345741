// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/report/complain.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace roce::verbs {

void complain(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::scoped_lock lock{mutex};
  if (printed.insert(message).second) std::fprintf(stderr, "roce-verbs: %s\n", message.c_str());
}

}  // namespace roce::verbs
