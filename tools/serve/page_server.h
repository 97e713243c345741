// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "command_line/outcome.h"

namespace roce::serve {

/// Serves one page by HTTP on the loopback address, to those who have the token in its URL; and `/alive`, which answers
/// them at once, so that a page can ask before it gives itself up for the next. It has no thread of its own: the
/// caller's loop serves.
class PageServer {
 public:
  /// Listens at 127.0.0.1; port 0 takes one that is free. Failure: the port is taken or not allowed.
  [[nodiscard]] static Outcome<std::unique_ptr<PageServer>> open(std::uint16_t port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// Returns a file descriptor that is readable when `serve` has something to do.
  [[nodiscard]] int fd() const;
  /// Answers the requests that have come, without waiting. Those for the page wait for `deliver`.
  void serve();
  /// True if somebody waits for the page.
  [[nodiscard]] bool is_asked() const;
  /// Gives the page to all who wait for it. `page` is a regular file, which the server closes; -1: there is no page.
  void deliver(int page);
  /// Returns the URL with the token.
  [[nodiscard]] const std::string& url() const;

 private:
  struct State;
  explicit PageServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::serve
