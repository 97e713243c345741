// SPDX-License-Identifier: BSD-2-Clause
#include "support/network_namespace.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace roce::test {
namespace {

constexpr const char* kOwnNamespace = "/proc/thread-self/ns/net";

bool stays_on_the_host = false;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

/// True if a network namespace can be made; the thread is back in its own afterwards.
bool can_make_namespace() {
  const int own = ::open(kOwnNamespace, O_RDONLY | O_CLOEXEC);
  const bool can = own >= 0 && ::unshare(CLONE_NEWNET) == 0 && ::setns(own, CLONE_NEWNET) == 0;
  if (own >= 0) ::close(own);
  return can;
}

/// Makes the process root of a user namespace of its own; returns the reason if that fails.
std::optional<std::string> become_root() {
  if (stays_on_the_host) {
    if (can_make_namespace()) return std::nullopt;
    return std::string{"network namespaces of the host are not allowed here, which takes its root: "} +
           std::strerror(errno);
  }
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  // The process cannot return to the network namespace that it leaves, which belongs to another
  // user namespace. So it takes a first one along.
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    const std::string reason = std::strerror(errno);
    // The process is root, and user namespaces are switched off.
    if (can_make_namespace()) return std::nullopt;
    return "user namespaces are not allowed here (unshare: " + reason +
           "; see sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
           "kernel.apparmor_restrict_unprivileged_userns)";
  }
  if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", "0 " + user + " 1") ||
      !write_file("/proc/self/gid_map", "0 " + group + " 1")) {
    return "the identities of a user namespace cannot be mapped here (writing /proc/self/uid_map and gid_map)";
  }
  if (!can_make_namespace()) return std::string{"network namespaces are not allowed here: "} + std::strerror(errno);
  return std::nullopt;
}

/// Waits until an interface passes frames, which is some time after it is up.
void wait_until_running(const NetworkNamespace& space, const std::string& name) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  const int events = space.in([] { return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); });
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  const bool is_listening = ::bind(events, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  bool is_running = false;
  while (is_listening && !is_running && std::chrono::steady_clock::now() < end) {
    is_running = space.ip("link show dev " + name).find("state UP") != std::string::npos;
    pollfd event{events, POLLIN, 0};
    std::array<char, 65536> ignored{};
    if (!is_running && ::poll(&event, 1, 1000) > 0)
      static_cast<void>(::recv(events, ignored.data(), ignored.size(), 0));
  }
  ::close(events);
  if (!is_running) throw std::runtime_error(name + " does not come up");
}

}  // namespace

const std::optional<std::string>& NetworkNamespace::unavailable() {
  static const std::optional<std::string> reason = [] {
    std::optional<std::string> why = become_root();
    if (!why && std::system("PATH=$PATH:/usr/sbin:/sbin; command -v ip >/dev/null 2>&1") != 0)
      why = "there is no program `ip` (iproute2)";
    return why;
  }();
  return reason;
}

void NetworkNamespace::stay_on_the_host() {
  stays_on_the_host = true;
}

NetworkNamespace::NetworkNamespace() : fd_(-1) {
  if (unavailable()) throw std::runtime_error(*unavailable());
  const int own = ::open(kOwnNamespace, O_RDONLY | O_CLOEXEC);
  if (own < 0) fail("cannot open the network namespace");
  if (::unshare(CLONE_NEWNET) != 0) fail("cannot make a network namespace");
  fd_ = ::open(kOwnNamespace, O_RDONLY | O_CLOEXEC);
  const bool is_back = ::setns(own, CLONE_NEWNET) == 0;
  ::close(own);
  if (fd_ < 0 || !is_back) fail("cannot leave the network namespace");
}

NetworkNamespace::~NetworkNamespace() {
  ::close(fd_);
}

void NetworkNamespace::enter(const std::function<void()>& action) const {
  struct Return {
    int own = ::open(kOwnNamespace, O_RDONLY | O_CLOEXEC);
    ~Return() {
      if (own >= 0 && ::setns(own, CLONE_NEWNET) != 0) std::perror("cannot return to the network namespace");
      if (own >= 0) ::close(own);
    }
  };
  const Return on_return;
  if (on_return.own < 0 || ::setns(fd_, CLONE_NEWNET) != 0) fail("cannot enter the network namespace");
  action();
}

CommandOutcome NetworkNamespace::run(const std::string& command) const {
  CommandOutcome outcome;
  enter([&] {
    std::FILE* const pipe = ::popen(("exec 2>&1; PATH=$PATH:/usr/sbin:/sbin; " + command).c_str(), "re");
    if (pipe == nullptr) fail("cannot start a shell");
    std::array<char, 4096> block{};
    while (const std::size_t size = std::fread(block.data(), 1, block.size(), pipe)) {
      outcome.output.append(block.data(), size);
    }
    const int status = ::pclose(pipe);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  });
  return outcome;
}

std::string NetworkNamespace::ip(const std::string& arguments) const {
  CommandOutcome outcome = run("ip " + arguments);
  if (outcome.exit_code != 0) throw std::runtime_error("ip " + arguments + ": " + outcome.output);
  return std::move(outcome.output);
}

std::string NetworkNamespace::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_);
}

void connect_by_veth(const NetworkNamespace& a, const std::string& name_a, const NetworkNamespace& b,
                     const std::string& name_b) {
  a.ip("link add name " + name_a + " type veth peer name " + name_b + " netns " + b.path());
  for (const auto& [space, name] : {std::pair{&a, name_a}, std::pair{&b, name_b}}) {
    space->ip("link set " + name + " addrgenmode none");
    space->ip("link set " + name + " up");
  }
  wait_until_running(a, name_a);
  wait_until_running(b, name_b);
}

}  // namespace roce::test
