// SPDX-License-Identifier: BSD-2-Clause
#include "text/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace roce::text {

void Output::flush() {
  const char* next = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0 && !over_) {
    const ssize_t written = ::write(descriptor_, next, left);
    if (written >= 0) {
      next += written;
      left -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      // Another process that shares the descriptor has made it non-blocking.
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      over_ = true;
      if (errno != EPIPE) error_ = std::string{"cannot write to standard output: "} + std::strerror(errno);
    }
  }
  buffer_.clear();
}

}  // namespace roce::text
