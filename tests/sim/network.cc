// SPDX-License-Identifier: BSD-2-Clause
#include "sim/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/network_parts.h"

namespace roce::sim {

namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.is_after(b); };
constexpr Duration kLongestRun = std::chrono::hours{1};

double seconds(Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

SimNetwork::SimNetwork(std::uint64_t seed) : seed_(seed), random_(seed) {}

SimNetwork::~SimNetwork() = default;

NodeId SimNetwork::add_device(const transport::DeviceConfig& config, const transport::TxCaps& caps,
                              const transport::CongestionFactory& congestion) {
  auto device = transport::Device::make(config, Random{random_()}, congestion);
  if (!device) throw std::runtime_error("device: " + to_string(device.error()));
  auto node = std::make_unique<Node>();
  node->kind = Node::Kind::device;
  node->device = std::move(*device);
  node->caps = caps;
  constexpr std::size_t units_at_once = 8;
  node->buffer.resize(caps.max_bytes * units_at_once);
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

NodeId SimNetwork::add_switch() {
  auto node = std::make_unique<Node>();
  node->kind = Node::Kind::bridge;
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

NodeId SimNetwork::add_sink(std::function<void(Bytes, Time)> on_frame) {
  auto node = std::make_unique<Node>();
  node->kind = Node::Kind::sink;
  node->on_frame = std::move(on_frame);
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t SimNetwork::add_engine(const LinkConfig& config) {
  impair::RuleSet rules = config.rules;
  if (!config.impair.empty()) {
    auto read = impair::RuleSet::from_text(config.impair);
    if (!read) throw std::invalid_argument(read.error().message);
    rules = std::move(*read);
  }
  if (rules.rules().empty()) return 0;
  const std::uint64_t seed = config.impair_seed != 0 ? config.impair_seed : random_();
  engines_.push_back(std::make_unique<EngineOf>(EngineOf{.engine = impair::Engine{std::move(rules), seed}}));
  return engines_.size();
}

void SimNetwork::add_direction(NodeId from, NodeId to, const LinkConfig& config, std::size_t engine,
                               impair::Direction side) {
  const std::size_t index = directions_.size();
  directions_.push_back(std::make_unique<Direction>(
      Direction{.from = from, .to = to, .engine = engine, .back = index, .side = side, .queue = LinkQueue{config}}));
  nodes_.at(from)->ports.push_back(index);
  if (engine != 0) {
    EngineOf& rules = *engines_[engine - 1];
    (side == impair::Direction::a_to_b ? rules.a_to_b : rules.b_to_a) = index;
  }
}

void SimNetwork::connect(NodeId a, NodeId b, const LinkConfig& both) {
  const std::size_t engine = add_engine(both);
  add_direction(a, b, both, engine, impair::Direction::a_to_b);
  add_direction(b, a, both, engine, impair::Direction::b_to_a);
  const std::size_t there = directions_.size() - 2;
  directions_[there]->back = there + 1;
  directions_[there + 1]->back = there;
}

void SimNetwork::connect(NodeId a, NodeId b, const LinkConfig& a_to_b, const LinkConfig& b_to_a) {
  add_direction(a, b, a_to_b, add_engine(a_to_b), impair::Direction::a_to_b);
  add_direction(b, a, b_to_a, add_engine(b_to_a), impair::Direction::b_to_a);
  const std::size_t there = directions_.size() - 2;
  directions_[there]->back = there + 1;
  directions_[there + 1]->back = there;
}

transport::Device& SimNetwork::device(NodeId node) {
  return nodes_.at(node)->device.value();
}

const LinkStats& SimNetwork::link_stats(NodeId from, NodeId to) const {
  for (const auto& direction : directions_) {
    if (direction->from == from && direction->to == to) return direction->queue.stats();
  }
  throw std::out_of_range("no link between these nodes");
}

impair::Engine* SimNetwork::engine(NodeId from, NodeId to) {
  for (const auto& direction : directions_) {
    if (direction->from == from && direction->to == to && direction->engine != 0) {
      return &engines_[direction->engine - 1]->engine;
    }
  }
  return nullptr;
}

std::vector<transport::Event>& SimNetwork::events(NodeId node) {
  poll_events(node);
  return nodes_.at(node)->events;
}

void SimNetwork::inject(NodeId from, Bytes frame) {
  for (const std::size_t port : nodes_.at(from)->ports) send(port, Frame(frame.begin(), frame.end()));
}

void SimNetwork::after(Duration delay, std::function<void()> action) {
  schedule({.time = now_ + delay, .kind = Event::Kind::call, .action = std::move(action)});
}

void SimNetwork::schedule(Event event) {
  event.number = next_number_++;
  events_.push_back(std::move(event));
  std::ranges::push_heap(events_, kLater);
}

testing::AssertionResult SimNetwork::run_until_idle() {
  return run(Goal::idle, {}, "idle", now_ + kLongestRun);
}

testing::AssertionResult SimNetwork::run_until(const std::function<bool()>& condition, const std::string& what) {
  return run(Goal::condition, condition, what, now_ + kLongestRun);
}

testing::AssertionResult SimNetwork::run_for(Duration duration) {
  return run(Goal::time, {}, "time", now_ + duration);
}

testing::AssertionResult SimNetwork::run(Goal goal, const std::function<bool()>& condition, const std::string& what,
                                         Time deadline) {
  const auto fail = [&](const std::string& problem, std::uint64_t steps) {
    return testing::AssertionFailure() << state(problem, steps);
  };
  for (NodeId node = 0; node < nodes_.size(); ++node) serve(node);
  for (std::uint64_t steps = 0;; ++steps) {
    if (!failure_.empty()) return fail(failure_, steps);
    if (goal == Goal::condition && condition()) return testing::AssertionSuccess();
    Time next = events_.empty() ? kNever : events_.front().time;
    std::optional<NodeId> woken;
    for (NodeId node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node]->kind != Node::Kind::device) continue;
      const Time timeout = nodes_[node]->device->next_timeout();
      if (timeout < next) {
        next = timeout;
        woken = node;
      }
    }
    if (next == kNever || next > deadline) {
      const bool idle = next == kNever;
      if (goal == Goal::time) {
        now_ = deadline;
        for (NodeId node = 0; node < nodes_.size(); ++node) serve(node);
        return failure_.empty() ? testing::AssertionSuccess() : fail(failure_, steps);
      }
      if (idle && goal == Goal::idle) return testing::AssertionSuccess();
      return fail((idle ? "became idle before: " : "an hour passed before: ") + what, steps);
    }
    if (steps >= max_steps_) return fail("too many steps before: " + what, steps);
    now_ = std::max(now_, next);
    if (woken) {
      serve(*woken);
    } else {
      std::ranges::pop_heap(events_, kLater);
      Event event = std::move(events_.back());
      events_.pop_back();
      handle(std::move(event));
    }
  }
}

std::string SimNetwork::state(const std::string& problem, std::uint64_t steps) const {
  std::string text = fmt::format("{} (seed {}, time {:.9f} s, {} steps)", problem, seed_, seconds(now_), steps);
  for (const Event& event : events_) {
    if (event.kind != Event::Kind::arrival) continue;
    const Direction& direction = *directions_[event.index];
    text += fmt::format("\n  {:.9f} on its way from node {} to node {}: {}", seconds(event.time), direction.from,
                        direction.to, describe(event.frame));
  }
  for (NodeId node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node]->kind != Node::Kind::device) continue;
    const transport::Device& device = *nodes_[node]->device;
    text +=
        fmt::format("\n  node {}: next timeout {}, {}", node,
                    device.next_timeout() == kNever ? "never" : fmt::format("{:.9f}", seconds(device.next_timeout())),
                    device.has_output() ? "has output" : "no output");
  }
  return text;
}

void SimNetwork::see(Tap tap, std::size_t direction, Bytes frame) {
  const Direction& way = *directions_[direction];
  if (kept_tap_ == tap) trace_.push_back({now_, tap, way.from, way.to, Frame(frame.begin(), frame.end())});
  for (const auto& recorder : recorders_) {
    if (recorder->tap != tap || (recorder->node && *recorder->node != way.from && *recorder->node != way.to)) continue;
    link::CaptureRecord record;
    record.bytes = frame;
    record.timestamp_ns = now_.time_since_epoch().count();
    if (const auto written = recorder->writer.write(record); !written) {
      throw std::runtime_error(written.error().message);
    }
  }
}

std::string SimNetwork::trace_text() const {
  std::string text = fmt::format("seed {}\n", seed_);
  for (const TraceFrame& frame : trace_) {
    text += fmt::format("{:.9f} {} > {} {}\n", seconds(frame.time), frame.from, frame.to, describe(frame.bytes));
  }
  return text;
}

void SimNetwork::record(const std::string& path, Tap tap, std::optional<NodeId> node) {
  link::CaptureWriterOptions options;
  options.format = link::CaptureFormat::pcap_ns;
  auto writer = link::CaptureWriter::create(path, options);
  if (!writer) throw std::runtime_error(writer.error().message);
  recorders_.push_back(std::make_unique<Recorder>(Recorder{std::move(*writer), tap, node}));
}

void SimNetwork::stop_recording() {
  for (const auto& recorder : recorders_) {
    if (const auto closed = recorder->writer.close(); !closed) throw std::runtime_error(closed.error().message);
  }
  recorders_.clear();
}

}  // namespace roce::sim
