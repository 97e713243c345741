// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roce/impair/engine.h"
#include "roce/link/capture_writer.h"
#include "roce/transport/device.h"
#include "sim/link.h"
#include "sim/random.h"

namespace roce::sim {

using NodeId = std::size_t;

/// The point on its way over a link at which a frame is seen.
enum class Tap : std::uint8_t {
  sent,      ///< handed to the link, before its queue
  impaired,  ///< after queue and fault rules, before the delay
  received,  ///< at the other end
};

/// A frame that was seen.
struct TraceFrame {
  Time time{};
  Tap tap{};
  NodeId from = 0;
  NodeId to = 0;
  Frame bytes;
};

/// Devices, switches and links in virtual time. Events are ordered by (time, number), so that the same seed and the
/// same calls give the same bytes. Everything happens in one thread; nothing waits for a real clock.
class SimNetwork {
 public:
  /// `seed` is the source of all random numbers: those of the devices and those of the fault rules.
  explicit SimNetwork(std::uint64_t seed = 1);
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;
  ~SimNetwork();

  // Building the network.

  /// Adds a device with one port. Throws if the device refuses `config`.
  NodeId add_device(const transport::DeviceConfig& config, const transport::TxCaps& caps = {},
                    const transport::CongestionFactory& congestion = {});
  /// Adds a bridge: it learns which MAC address is on which port; groups and unknown addresses go to all other ports.
  NodeId add_switch();
  /// Adds another kind of node at the end of a link; `on_frame` is called for each frame.
  NodeId add_sink(std::function<void(Bytes frame, Time now)> on_frame);
  void connect(NodeId a, NodeId b, const LinkConfig& both = {});
  /// Connects two nodes; each direction has its own queue and its own fault rules.
  void connect(NodeId a, NodeId b, const LinkConfig& a_to_b, const LinkConfig& b_to_a);

  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] transport::Device& device(NodeId node);
  /// Returns the counters of the direction from `from` to `to`.
  [[nodiscard]] const LinkStats& link_stats(NodeId from, NodeId to) const;
  /// Returns the fault engine of the direction from `from` to `to`; null without rules.
  [[nodiscard]] impair::Engine* engine(NodeId from, NodeId to);
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] Time now() const { return now_; }

  // Running it.

  /// Sends a frame from a node's port, as if the node had made it.
  void inject(NodeId from, Bytes frame);
  /// Calls `action` after `delay`.
  void after(Duration delay, std::function<void()> action);
  /// Sets whether neighbour_wanted events are answered at once; they are by default.
  void answer_neighbours(bool answer) { answer_neighbours_ = answer; }
  /// Returns the events of a device so far, except for neighbour_wanted events that were answered.
  [[nodiscard]] std::vector<transport::Event>& events(NodeId node);
  /// Sets how many events one run may take before it counts as endless.
  void set_max_steps(std::uint64_t steps) { max_steps_ = steps; }

  /// Runs until nothing is under way and no device has a timer. Failure: names seed, time and what is still to come.
  [[nodiscard]] testing::AssertionResult run_until_idle();
  /// Runs until `condition` holds. Failure: the network became idle before, or an hour passed.
  [[nodiscard]] testing::AssertionResult run_until(const std::function<bool()>& condition, const std::string& what);
  [[nodiscard]] testing::AssertionResult run_for(Duration duration);

  // Observing it.

  /// Keeps the frames at a tap in `trace()`.
  void keep_trace(Tap tap) { kept_tap_ = tap; }
  [[nodiscard]] const std::vector<TraceFrame>& trace() const { return trace_; }
  void clear_trace() { trace_.clear(); }
  /// Returns the trace as text, one line per frame.
  [[nodiscard]] std::string trace_text() const;
  /// Writes the frames at a tap (of all links, or of those from or to `node`) into a capture file with nanoseconds.
  void record(const std::string& path, Tap tap, std::optional<NodeId> node = {});
  /// Ends the capture files.
  void stop_recording();

 private:
  struct Node;
  struct Direction;
  struct EngineOf;
  struct Event;
  struct Recorder;
  enum class Goal : std::uint8_t { idle, condition, time };

  [[nodiscard]] testing::AssertionResult run(Goal goal, const std::function<bool()>& condition, const std::string& what,
                                             Time deadline);
  void add_direction(NodeId from, NodeId to, const LinkConfig& config, std::size_t engine, impair::Direction side);
  std::size_t add_engine(const LinkConfig& config);
  void handle(Event event);
  void serve(NodeId node);
  void transmit(NodeId node);
  void poll_events(NodeId node);
  bool answer(NodeId node, const transport::Event& event);
  void send(std::size_t direction, Frame frame);
  void leave_queue(std::size_t direction);
  void pass_engine(std::size_t engine);
  void depart(std::size_t direction, Frame frame);
  void arrive(std::size_t direction, const Frame& frame);
  void forward(std::size_t direction, const Frame& frame);
  void see(Tap tap, std::size_t direction, Bytes frame);
  void schedule(Event event);
  [[nodiscard]] std::string state(const std::string& problem, std::uint64_t steps) const;

  std::uint64_t seed_;
  Random random_;
  Time now_{};
  std::uint64_t next_number_ = 0;
  std::uint64_t max_steps_ = 3'000'000;
  bool answer_neighbours_ = true;
  std::string failure_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Direction>> directions_;
  std::vector<std::unique_ptr<EngineOf>> engines_;
  std::vector<Event> events_;  ///< a heap, the next one first
  std::optional<Tap> kept_tap_;
  std::vector<TraceFrame> trace_;
  std::vector<std::unique_ptr<Recorder>> recorders_;
};

}  // namespace roce::sim
