// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/ibverbs/event_queue.h"

#include <poll.h>

namespace roce::verbs {

bool is_readable(int fd) {
  pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, 0) == 1;
}

}  // namespace roce::verbs
