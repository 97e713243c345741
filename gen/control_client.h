// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "gen/control_server.h"
#include "gen/endpoint.h"
#include "gen/json_lines.h"

namespace roce::gen {

/// Asks a peer to do something by the control protocol, and waits for the answer while our own frames keep moving.
class ControlClient {
 public:
  /// Connects and says hello. `shard` is which one of the peer's, or "any"; null: its first, which has RDMA CM.
  /// Failures: nobody there, another version, wrong token.
  [[nodiscard]] static Outcome<std::unique_ptr<ControlClient>> open(Endpoint& endpoint, const ControlAddress& address,
                                                                    const nlohmann::json& shard);

  /// Carries out `op` there. Failure: refused, with the peer's reason, or no answer in 10 s.
  [[nodiscard]] Outcome<nlohmann::json> call(std::string_view op, nlohmann::ordered_json request = {});
  /// The answer to `hello`.
  [[nodiscard]] const nlohmann::json& hello() const { return hello_; }
  /// What becomes readable between two calls only when the peer is gone.
  [[nodiscard]] int fd() const { return lines_.fd(); }

 private:
  ControlClient(Endpoint& endpoint, int fd) : endpoint_(endpoint), lines_(fd) {}

  Endpoint& endpoint_;
  JsonLines lines_;
  std::uint64_t next_id_ = 1;
  nlohmann::json hello_;
};

}  // namespace roce::gen
