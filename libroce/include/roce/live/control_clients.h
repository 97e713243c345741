// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "roce/live/control_session.h"
#include "roce/live/endpoint.h"
#include "roce/live/json_lines.h"
#include "roce/live/token_guard.h"

namespace roce::live {

/// Serves the control protocol (docs/control.md) to the clients whose objects are on one endpoint. The clients take
/// turns: each step handles one request of one client, or a part of one that takes long.
class ControlClients {
 public:
  /// The most clients that have said hello.
  static constexpr std::size_t kMaxClients = 64;
  /// The most other connections. They cost little, have little time to say hello, and are displaced by others.
  static constexpr std::size_t kMaxStrangers = 16;
  static constexpr Duration kHelloTime = std::chrono::seconds{10};
  static constexpr std::size_t kMaxFirstLine = 4096;
  /// Requests before hello that are answered; then the connection is closed.
  static constexpr unsigned kMaxRefusals = 16;

  /// Hands a connection, whose hello is right, to another shard.
  using HandOver = std::function<void(std::uint32_t shard, JsonLines lines, nlohmann::json hello)>;
  /// Reports to people, in words, what strangers do.
  using Tell = std::function<void(const std::string& text)>;

  /// `cm` is nullptr if the endpoint has no QP1; `hand_over` is used if there are several shards.
  ControlClients(Endpoint& endpoint, RdmaCm* cm, ControlSession::Terms terms, HandOver hand_over = {}, Tell tell = {});
  ~ControlClients();
  ControlClients(const ControlClients&) = delete;
  ControlClients& operator=(const ControlClients&) = delete;

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  /// Serves a connection from now on. `address` is the client's, or empty if only the owner can connect: a connection
  /// from an address that has sent too many wrong tokens is closed.
  void add(int fd, std::string address);
  /// Serves a connection that another shard handed over after it found the hello right.
  void add(JsonLines lines, const nlohmann::json& hello);
  /// Takes completions and events for the clients, all events of the port, and does a part of their requests; true if
  /// there may be more to do.
  bool step();

 private:
  struct Client {
    Client(Endpoint& endpoint, RdmaCm* cm, const ControlSession::Terms& terms, JsonLines connection, std::string from,
           Time limit)
        : lines(std::move(connection)), address(std::move(from)), deadline(limit), session(endpoint, cm, terms) {}
    JsonLines lines;
    std::string address;
    Time deadline;  // end of the time for hello; kNever after it
    ControlSession session;
    unsigned refusals = 0;
    bool is_silent = false;  // the client sends nothing more
    bool is_over = false;
  };

  [[nodiscard]] static bool is_stranger(const Client& client) { return client.deadline != kNever && !client.is_over; }
  [[nodiscard]] std::size_t count_strangers() const;
  void make_room();
  void watch(Client& client);
  void serve(Client& client, short events);
  bool serve_next(Time now);
  void serve_one(Client& client, Time now);
  void handle(Client& client, const nlohmann::json& request, Time now);
  void greet(Client& client, const nlohmann::json& request, Time now);
  [[nodiscard]] bool hand_over(Client& client, const nlohmann::json& request);
  void answer(Client& client, const nlohmann::ordered_json& answer);
  void end(Client& client, const std::string& reason);
  void end(Client& client);
  void look_at_the_time(Time now);
  /// Hands each event of the device to the client that made the object.
  void take_events(Time now);
  void clear_away();

  Endpoint& endpoint_;
  RdmaCm* cm_;
  ControlSession::Terms terms_;
  HandOver hand_over_;
  Tell tell_;
  TokenGuard guard_;
  std::uint32_t next_shard_ = 0;                  // shard of the next client that takes any
  std::size_t next_client_ = 0;                   // the one whose turn it is
  std::vector<std::unique_ptr<Client>> clients_;  // oldest first
  std::deque<PeerMemory> left_behind_;            // memory of clients that are gone
};

}  // namespace roce::live
