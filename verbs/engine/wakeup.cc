// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/engine/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace roce::verbs {

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error{errno, std::generic_category(), "eventfd"};
}

Wakeup::~Wakeup() {
  ::close(fd_);
}

void Wakeup::ring() const {
  (void)::eventfd_write(fd_, 1);
}

void Wakeup::clear() const {
  eventfd_t count = 0;
  (void)::eventfd_read(fd_, &count);
}

}  // namespace roce::verbs
