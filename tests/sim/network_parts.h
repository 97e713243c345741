// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "sim/network.h"

namespace roce::sim {

struct SimNetwork::Node {
  enum class Kind : std::uint8_t { device, bridge, sink };

  Kind kind{};
  std::optional<transport::Device> device;
  transport::TxCaps caps;
  std::vector<std::byte> buffer;
  std::vector<transport::Event> events;
  std::function<void(Bytes, Time)> on_frame;
  std::vector<std::size_t> ports;             ///< directions that leave the node
  std::map<MacAddress, std::size_t> learned;  ///< direction in which a bridge saw an address
};

/// One direction of a link.
struct SimNetwork::Direction {
  NodeId from = 0;
  NodeId to = 0;
  std::size_t engine = 0;  ///< index + 1, 0: no fault rules
  std::size_t back = 0;    ///< index of the opposite direction
  impair::Direction side{};
  LinkQueue queue;
};

/// The fault rules of a link, or of one direction of it.
struct SimNetwork::EngineOf {
  impair::Engine engine;
  std::size_t a_to_b = 0;  ///< directions
  std::size_t b_to_a = 0;
  Time woken_at{};  ///< time of the next engine_due event
};

struct SimNetwork::Event {
  enum class Kind : std::uint8_t { transmitted, engine_due, arrival, call };

  Time time{};
  std::uint64_t number = 0;
  Kind kind{};
  std::size_t index = 0;  ///< index of a direction or an engine
  Frame frame{};
  std::function<void()> action{};

  [[nodiscard]] bool is_after(const Event& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

struct SimNetwork::Recorder {
  link::CaptureWriter writer;
  Tap tap{};
  std::optional<NodeId> node;
};

}  // namespace roce::sim
