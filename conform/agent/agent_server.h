// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conform/agent/agent_session.h"
#include "conform/agent/listener.h"
#include "conform/agent/verbs_device.h"
#include "roce/live/json_lines.h"
#include "roce/live/token_guard.h"
#include "roce/wire/time.h"

namespace roce::conform {

/// Serves the control protocol to any number of clients, in one thread. The clients take turns: each round handles one
/// request of one client, or a part of one that takes long. The limits are those of docs/control.md.
class AgentServer {
 public:
  static constexpr std::size_t kMaxClients = 64;
  static constexpr std::size_t kMaxStrangers = 16;
  static constexpr Duration kHelloTime = std::chrono::seconds{10};
  static constexpr std::size_t kMaxFirstLine = 4096;
  static constexpr unsigned kMaxRefusals = 16;

  /// Reports to people, in words, what strangers do.
  using Tell = std::function<void(const std::string& text)>;

  /// `device` and `limits` have to outlive the server.
  AgentServer(const VerbsDevice& device, AgentLimits& limits, Listener listener, Tell tell);

  /// Serves until `stop_fd` is readable. Failure: poll(2) fails.
  [[nodiscard]] Outcome<void> run(int stop_fd);

 private:
  struct Client {
    Client(live::JsonLines connection, std::string from, Time limit, const VerbsDevice& device, AgentLimits& limits)
        : lines(std::move(connection)), address(std::move(from)), deadline(limit), session(device, limits) {}
    live::JsonLines lines;
    std::string address;
    Time deadline;  // end of the time for hello; kNever after it
    AgentSession session;
    unsigned refusals = 0;
    bool is_silent = false;  // the client sends nothing more
    bool is_over = false;
  };

  [[nodiscard]] static bool is_stranger(const Client& client) { return client.deadline != kNever && !client.is_over; }
  [[nodiscard]] static bool is_busy(Client& client) { return client.session.is_working() || client.lines.has_line(); }
  [[nodiscard]] bool wait(int stop_fd);
  void accept();
  void add(Incoming incoming);
  void make_room();
  void move_lines(Client& client, short ready);
  void serve_next();
  void serve(Client& client);
  void handle(Client& client, const nlohmann::json& request);
  void greet(Client& client, const nlohmann::json& request);
  void answer(Client& client, const nlohmann::ordered_json& answer);
  void end(Client& client, const std::string& reason);
  static void end(Client& client);
  void look_at_the_time();

  const VerbsDevice& device_;
  AgentLimits& limits_;
  Listener listener_;
  Tell tell_;
  live::TokenGuard guard_;
  std::size_t next_client_ = 0;                   // the one whose turn it is
  std::vector<std::unique_ptr<Client>> clients_;  // oldest first
};

}  // namespace roce::conform
