// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace roce::attack {

/// The peer under attack does not answer or has ended, which an attack tries to bring about.
struct PeerLost : std::runtime_error {
  PeerLost(const std::string& what, bool hang_) : std::runtime_error(what), hang(hang_) {}
  bool hang;  ///< the peer still runs but does not answer
};

/// A client of the control protocol (docs/control.md) that sends many requests before it reads the answers.
class ControlLine {
 public:
  /// Connects to a peer's Unix socket and sends hello. Throws PeerLost.
  explicit ControlLine(const std::string& path);
  ~ControlLine();
  ControlLine(ControlLine&& other) noexcept;
  ControlLine& operator=(ControlLine&&) = delete;
  ControlLine(const ControlLine&) = delete;
  ControlLine& operator=(const ControlLine&) = delete;

  /// Queues a request: one JSON object. Returns the index of its answer in the list of the next `answers`.
  std::size_t ask(std::string request);
  /// Waits for the answers to all queued requests. Throws PeerLost, also after five seconds of silence.
  [[nodiscard]] std::vector<nlohmann::json> answers();
  /// Sends one request, which has to succeed. Throws PeerLost, and runtime_error with the peer's reason.
  nlohmann::json call(std::string request);

  [[nodiscard]] std::uint64_t requests() const { return requests_; }

 private:
  void exchange();

  int fd_;
  std::string out_;
  std::string in_;
  std::size_t asked_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace roce::attack
