// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/stop_signal.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace roce::runtime {

StopSignal::StopSignal() : fd_(-1) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

StopSignal::~StopSignal() {
  if (fd_ >= 0) ::close(fd_);
}

bool StopSignal::take() {
  signalfd_siginfo info{};
  return ::read(fd_, &info, sizeof info) == sizeof info;
}

}  // namespace roce::runtime
