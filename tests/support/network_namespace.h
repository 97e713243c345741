// SPDX-License-Identifier: BSD-2-Clause
// Network namespaces of a test's own, for root and for ordinary users alike.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace roce::test {

/// The output of a command, both streams, and its exit code.
struct CommandOutcome {
  int exit_code = -1;
  std::string output;
};

/// An empty network namespace (its loopback interface is down). It disappears, with all its interfaces, when the object
/// is destroyed and nothing opened inside is left. Everything happens in the calling thread, which has to be the only
/// one of the process when the first object is made: the process then moves into a user namespace in which it is root.
class NetworkNamespace {
 public:
  /// Returns why this machine does not allow network namespaces; none if it does. For GTEST_SKIP.
  [[nodiscard]] static const std::optional<std::string>& unavailable();
  /// Keeps the process as root of the host, instead of moving it into a user namespace, whose root may not load a BPF
  /// program for an interface. Has to be called before anything else. Without root, namespaces are then unavailable.
  static void stay_on_the_host();

  /// Makes a namespace; only if `unavailable()` is empty. Throws std::system_error.
  NetworkNamespace();
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;
  ~NetworkNamespace();

  /// Calls `action` inside. Sockets opened there stay there.
  void enter(const std::function<void()>& action) const;
  /// Calls `action` inside and returns its result.
  template <typename Action>
  [[nodiscard]] auto in(const Action& action) const {
    std::optional<decltype(action())> result;
    enter([&] { result.emplace(action()); });
    return std::move(*result);
  }
  /// Runs a shell command inside.
  [[nodiscard]] CommandOutcome run(const std::string& command) const;
  /// Runs `ip` inside with these arguments and returns its output. If it fails, throws
  /// std::runtime_error with what it printed.
  std::string ip(const std::string& arguments) const;
  /// Returns a path that names the namespace to programs that this process starts: `ip link set eth0 netns PATH`.
  [[nodiscard]] std::string path() const;

 private:
  int fd_;
};

/// Connects two namespaces: makes a pair of veth interfaces, one in each, sets both up, and waits until frames pass.
/// The interfaces do not have any IP addresses, not even link-local ones.
void connect_by_veth(const NetworkNamespace& a, const std::string& name_a, const NetworkNamespace& b,
                     const std::string& name_b);

}  // namespace roce::test
