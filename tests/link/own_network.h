// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/network_namespace.h"

namespace roce::link::test {

/// A new network namespace with a loopback interface that has 127.0.0.1/8, ::1, fd00::1 and fd00::2. The process
/// is in it from then on, until the next one is made.
class OwnNetwork {
 public:
  /// Returns why there cannot be one; the process stays where it is in that case.
  [[nodiscard]] static const std::optional<std::string>& unavailable() {
    static const std::optional<std::string> reason = ask();
    return reason;
  }

  /// Makes and enters the namespace; only if `unavailable()` is empty.
  OwnNetwork() {
    const int inside = ::open(space_.path().c_str(), O_RDONLY | O_CLOEXEC);
    const bool entered = inside >= 0 && ::setns(inside, CLONE_NEWNET) == 0;
    if (inside >= 0) ::close(inside);
    if (!entered) throw std::system_error(errno, std::generic_category(), "cannot enter the network namespace");
    space_.ip("link set lo up");
    for (const char* own : {"fd00::1", "fd00::2"}) {
      has_v6_ = space_.run(std::string("ip address add dev lo nodad ") + own).exit_code == 0;
    }
    // The kernel needs a moment before the addresses can be used, even without duplicate address detection.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (has_v6_ && !space_.ip("-6 address show dev lo tentative").empty()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the addresses of lo stay tentative");
    }
  }

  [[nodiscard]] bool has_v6() const { return has_v6_; }
  void ip(const std::string& arguments) const { space_.ip(arguments); }
  void set_mtu(int mtu) const { space_.ip("link set lo mtu " + std::to_string(mtu)); }

 private:
  /// Asks in a child, because a process that was let into a user namespace, but no further, cannot come back.
  static std::optional<std::string> ask() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(roce::test::NetworkNamespace::unavailable() ? 1 : 0);
    int status = 0;
    if (child > 0 && ::waitpid(child, &status, 0) == child && status == 0) {
      return roce::test::NetworkNamespace::unavailable();
    }
    return "network namespaces are not allowed here, or there is no program `ip` (iproute2)";
  }

  roce::test::NetworkNamespace space_;
  bool has_v6_ = false;
};

}  // namespace roce::link::test
