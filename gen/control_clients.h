// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gen/control_session.h"
#include "gen/endpoint.h"
#include "gen/json_lines.h"

namespace roce::gen {

/// Serves the control protocol (docs/control.md) to those whose objects are on one endpoint.
class ControlClients {
 public:
  /// Gives a connection with its first request to another shard.
  using HandOver = std::function<void(std::uint32_t shard, JsonLines lines, nlohmann::json first)>;

  /// `cm` is nullptr where there is no QP1; `hand_over` is used where there are several shards.
  ControlClients(Endpoint& endpoint, RdmaCm* cm, ControlSession::Terms terms, HandOver hand_over = {});
  ~ControlClients();
  ControlClients(const ControlClients&) = delete;
  ControlClients& operator=(const ControlClients&) = delete;

  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  /// Serves a connection from now on; one too many is closed. `first` is a request that was read already.
  void add(JsonLines lines, const std::optional<nlohmann::json>& first);
  /// Takes completions for the clients; true if there was one.
  bool step();

 private:
  struct Client {
    Client(Endpoint& endpoint, RdmaCm* cm, const ControlSession::Terms& terms, JsonLines connection)
        : lines(std::move(connection)), session(endpoint, cm, terms) {}
    JsonLines lines;
    ControlSession session;
    bool is_new = true;  // nothing was asked yet
    bool over = false;
  };

  void serve(Client& client, short events);
  [[nodiscard]] bool answer(Client& client, const nlohmann::json& request);
  void watch(Client& client);
  [[nodiscard]] std::uint32_t shard_for(const nlohmann::json& request);

  Endpoint& endpoint_;
  RdmaCm* cm_;
  ControlSession::Terms terms_;
  HandOver hand_over_;
  std::uint32_t next_shard_ = 0;  // for who takes any
  std::list<std::unique_ptr<Client>> clients_;
};

}  // namespace roce::gen
