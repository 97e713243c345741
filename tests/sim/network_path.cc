// SPDX-License-Identifier: BSD-2-Clause
// The path of a frame: device → queue → fault rules → delay → device or bridge.
#include <array>
#include <stdexcept>
#include <utility>

#include "roce/wire/ethernet.h"
#include "roce/wire/packet.h"
#include "sim/network_parts.h"

namespace roce::sim {

namespace {

bool is_group(const MacAddress& mac) {
  return (mac.octets[0] & 1U) != 0;
}

}  // namespace

void SimNetwork::handle(Event event) {
  switch (event.kind) {
    case Event::Kind::transmitted:
      leave_queue(event.index);
      return;
    case Event::Kind::engine_due:
      pass_engine(event.index);
      return;
    case Event::Kind::arrival:
      arrive(event.index, event.frame);
      return;
    case Event::Kind::call:
      event.action();
      for (NodeId node = 0; node < nodes_.size(); ++node) serve(node);
      return;
  }
}

void SimNetwork::serve(NodeId id) {
  Node& node = *nodes_[id];
  if (node.kind != Node::Kind::device) return;
  if (node.device->next_timeout() <= now_) node.device->advance(now_);
  transmit(id);
  poll_events(id);
}

void SimNetwork::transmit(NodeId id) {
  constexpr std::uint64_t most_units = 1'000'000;
  Node& node = *nodes_[id];
  std::array<transport::TxUnit, 8> units{};
  for (std::uint64_t sent = 0; sent < most_units;) {
    const std::size_t count = node.device->transmit(node.buffer, units, node.caps, now_);
    if (count == 0) return;
    sent += count;
    for (std::size_t i = 0; i < count; ++i) {
      for (Frame& frame : cut(units[i].bytes, units[i].segments, units[i].segment_size)) {
        send(node.ports.at(0), std::move(frame));
      }
    }
  }
  failure_ = "a device transmits without end";
}

void SimNetwork::poll_events(NodeId id) {
  Node& node = *nodes_.at(id);
  if (!node.device) return;
  bool answered = false;
  while (const std::optional<transport::Event> event = node.device->poll_event()) {
    if (event->type == transport::EventType::neighbour_wanted && answer_neighbours_) {
      answered = answer(id, *event) || answered;
    } else {
      node.events.push_back(*event);
    }
  }
  if (answered) transmit(id);
}

bool SimNetwork::answer(NodeId id, const transport::Event& event) {
  for (const auto& other : nodes_) {
    if (!other->device) continue;
    for (const transport::GidEntry& entry : other->device->config().gids) {
      if (entry.gid != event.gid) continue;
      const auto done = nodes_[id]->device->set_neighbour(event.gid, event.vlan_id, other->device->config().mac);
      if (!done) throw std::runtime_error("set_neighbour: " + to_string(done.error()));
      return true;
    }
  }
  return false;
}

void SimNetwork::send(std::size_t direction, Frame frame) {
  see(Tap::sent, direction, frame);
  LinkQueue& queue = directions_[direction]->queue;
  if (!queue.push(std::move(frame))) return;
  schedule({.time = now_ + queue.transmission_time(), .kind = Event::Kind::transmitted, .index = direction});
}

void SimNetwork::leave_queue(std::size_t index) {
  Direction& direction = *directions_[index];
  Frame frame = direction.queue.pop();
  if (!direction.queue.empty()) {
    schedule({.time = now_ + direction.queue.transmission_time(), .kind = Event::Kind::transmitted, .index = index});
  }
  if (direction.engine == 0) {
    depart(index, std::move(frame));
    return;
  }
  if (engines_[direction.engine - 1]->engine.submit(direction.side, frame, now_) != impair::Submitted::taken) {
    throw std::logic_error("the fault engine did not take a frame");
  }
  pass_engine(direction.engine - 1);
}

void SimNetwork::pass_engine(std::size_t index) {
  EngineOf& rules = *engines_[index];
  while (const std::optional<impair::Output> output = rules.engine.poll(now_)) {
    depart(output->direction == impair::Direction::a_to_b ? rules.a_to_b : rules.b_to_a,
           Frame(output->bytes.begin(), output->bytes.end()));
  }
  const Time next = rules.engine.next_timeout();
  const bool is_waited_for = rules.woken_at > now_ && rules.woken_at <= next;
  if (next == kNever || is_waited_for) return;
  rules.woken_at = next;
  schedule({.time = next, .kind = Event::Kind::engine_due, .index = index});
}

void SimNetwork::depart(std::size_t direction, Frame frame) {
  see(Tap::impaired, direction, frame);
  schedule({.time = now_ + directions_[direction]->queue.delay(),
            .kind = Event::Kind::arrival,
            .index = direction,
            .frame = std::move(frame)});
}

void SimNetwork::arrive(std::size_t index, const Frame& frame) {
  see(Tap::received, index, frame);
  const NodeId to = directions_[index]->to;
  Node& node = *nodes_[to];
  switch (node.kind) {
    case Node::Kind::sink:
      node.on_frame(frame, now_);
      return;
    case Node::Kind::bridge:
      forward(index, frame);
      return;
    case Node::Kind::device:
      node.device->receive(parse_frame(frame, LinkType::ethernet), now_);
      serve(to);
      return;
  }
}

void SimNetwork::forward(std::size_t index, const Frame& frame) {
  const Direction& in = *directions_[index];
  Node& bridge = *nodes_[in.to];
  const auto ethernet = read<Ethernet>(frame.data());
  bridge.learned[ethernet.source] = in.back;
  const auto known = is_group(ethernet.destination) ? bridge.learned.end() : bridge.learned.find(ethernet.destination);
  if (known != bridge.learned.end()) {
    if (known->second != in.back) send(known->second, frame);
    return;
  }
  for (const std::size_t port : bridge.ports) {
    if (port != in.back) send(port, frame);
  }
}

}  // namespace roce::sim
