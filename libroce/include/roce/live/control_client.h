// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "roce/live/control_server.h"
#include "roce/live/endpoint.h"
#include "roce/live/json_lines.h"

namespace roce::live {

/// A client of the control protocol. It keeps the frames of an endpoint moving, if there is one, while it waits.
class ControlClient {
 public:
  /// Connects and sends `hello`. `shard` is the number of the peer's shard, or "any"; null: its first, which has RDMA
  /// CM. Failures: nobody listens there, another version, wrong token.
  [[nodiscard]] static Result<std::unique_ptr<ControlClient>> open(Endpoint& endpoint, const ControlAddress& address,
                                                                   const nlohmann::json& shard);

  /// Connects without an endpoint, and otherwise as above.
  [[nodiscard]] static Result<std::unique_ptr<ControlClient>> open(const ControlAddress& address,
                                                                   const nlohmann::json& shard);

  /// Makes the peer carry out `op`. Failure: refused, with the peer's reason, or no answer in 10 s.
  [[nodiscard]] Result<nlohmann::json> call(std::string_view op, nlohmann::ordered_json request = {});
  /// True once the peer has gone or has not answered in time: then no call succeeds any more.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Returns the answer to `hello`.
  [[nodiscard]] const nlohmann::json& hello() const { return hello_; }
  /// Returns the connection's file descriptor, which becomes readable between two calls only when the peer is gone.
  [[nodiscard]] int fd() const { return lines_.fd(); }

 private:
  ControlClient(Endpoint* endpoint, int fd) : endpoint_(endpoint), lines_(fd) {}
  [[nodiscard]] static Result<std::unique_ptr<ControlClient>> open(Endpoint* endpoint, const ControlAddress& address,
                                                                   const nlohmann::json& shard);
  [[nodiscard]] Result<nlohmann::json> await(std::string_view op, std::uint64_t id);
  /// Moves frames of the endpoint and waits for the peer; false once its connection is closed.
  [[nodiscard]] Result<bool> wait(std::chrono::steady_clock::time_point deadline);

  Endpoint* endpoint_;  ///< may be null
  bool is_over_ = false;
  JsonLines lines_;
  std::uint64_t next_id_ = 1;
  nlohmann::json hello_;
};

}  // namespace roce::live
