// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "roce/congestion/control.h"
#include "roce/fabric/config.h"
#include "roce/fabric/error.h"
#include "roce/fabric/topology.h"
#include "roce/fabric/workload.h"
#include "roce/transport/counters.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::fabric {

/// One end of a link: 2 · link for its end a, one more for its end b. It sends to the other end, which is `port ^ 1`.
using PortId = std::uint32_t;

/// The fate of a flow.
struct FlowState {
  std::optional<Time> started{};   ///< when it was posted
  std::optional<Time> finished{};  ///< when its last byte was in the receiver's memory
  std::uint64_t delivered = 0;     ///< bytes in the receiver's memory, in order
  bool failed = false;             ///< its queue pair gave up
};

/// Counts of one port since the start.
struct PortCounters {
  std::uint64_t frames = 0;          ///< sent, without PFC's
  std::uint64_t bytes = 0;           ///< of those
  std::uint64_t marked = 0;          ///< of those, marked here
  std::uint64_t lost = 0;            ///< of those, by the link
  std::uint64_t xoffs = 0;           ///< times that a priority of the other end was stopped
  std::uint64_t longest_queue = 0;   ///< bytes in one queue
  std::uint64_t dropped = 0;         ///< frames that came in at this port, and found no room in the buffer
  std::uint64_t watchdog_drops = 0;  ///< frames for this port that the watchdog dropped
};

/// Counts of a whole fabric since the start.
struct Totals {
  std::uint64_t packets = 0;  ///< that hosts sent
  std::uint64_t hops = 0;     ///< frames over a link, PFC's too
  std::uint64_t dropped = 0;  ///< without room in a buffer
  std::uint64_t watchdog_drops = 0;
  std::uint64_t lost = 0;  ///< by links
  std::uint64_t marked = 0;
  std::uint64_t xoffs = 0;
  std::uint64_t events = 0;  ///< of the simulation
};

/// A queue that the watchdog emptied.
struct WatchdogEvent {
  Time at{};
  PortId port = 0;
  std::uint8_t priority = 0;
  std::uint64_t frames = 0;  ///< dropped at once
};

/// Sees the frames of a link, at its end a: those sent when they begin to leave, the others when they have come.
class Tap {
 public:
  Tap() = default;
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  virtual ~Tap() = default;
  /// `frame` from its Ethernet header on, without FCS; valid during the call. Times do not go back.
  virtual void on_frame(PortId from, Bytes frame, Time now) = 0;
};

namespace detail {
struct State;
}

/// A network of real devices in virtual time: hosts, switches and links, without I/O, clock or threads. The same
/// topology, configuration and flows give the same frames at the same times on every machine.
///
/// Switches forward by the destination's address and change nothing but the mark; a host knows its peers' addresses.
/// Frames are stored and forwarded whole. Time inside is in picoseconds; devices and callers see whole nanoseconds.
class Fabric {
 public:
  /// Makes a fabric at time 0 with all its queue pairs. Errors: those of `check` of each argument.
  [[nodiscard]] static Result<Fabric> make(Topology topology, const Config& config, std::vector<Flow> flows);
  Fabric(Fabric&&) noexcept;
  Fabric& operator=(Fabric&&) noexcept;
  ~Fabric();

  /// Lets time pass until `until`, or until `is_done` if that is earlier.
  void run_until(Time until);
  [[nodiscard]] Time now() const;
  /// True once all flows that have an end have arrived or failed.
  [[nodiscard]] bool is_done() const;

  [[nodiscard]] const Topology& topology() const;
  [[nodiscard]] std::span<const Flow> flows() const;
  /// Returns what has become of a flow.
  [[nodiscard]] FlowState flow_state(std::uint32_t flow) const;
  /// Returns the time that the flow would take alone in the network.
  [[nodiscard]] Duration ideal_time(std::uint32_t flow) const;
  /// Returns the state of the congestion control that limits the flow; empty without one.
  [[nodiscard]] std::optional<congestion::Reading> reading(std::uint32_t flow) const;
  /// Returns the sums over all queue pairs of a host.
  [[nodiscard]] transport::Counters host_counters(NodeId host) const;
  /// Returns the counters of the queue pair that sends the flow.
  [[nodiscard]] transport::Counters flow_counters(std::uint32_t flow) const;

  [[nodiscard]] std::uint32_t ports() const;
  [[nodiscard]] NodeId node_of(PortId port) const;
  /// Returns `s0>h3`: the port of s0 to h3.
  [[nodiscard]] std::string name_of(PortId port) const;
  [[nodiscard]] const PortCounters& counters(PortId port) const;
  /// Returns the bytes in a queue of a switch's port, the frame that is leaving included; 0 for a host's.
  [[nodiscard]] std::uint64_t queue_bytes(PortId port, std::uint8_t priority) const;
  /// Returns how long the other end has paused a priority of the port so far.
  [[nodiscard]] Duration paused_time(PortId port, std::uint8_t priority) const;
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] std::span<const WatchdogEvent> watchdog_events() const;
  /// Returns a circle of ports of switches each of which is paused because frames for the next one fill the buffer
  /// behind it; empty if there is none. Such a deadlock never ends by itself.
  [[nodiscard]] std::vector<PortId> find_deadlock() const;
  /// Returns the bytes that the frames take, those that are free again included.
  [[nodiscard]] std::size_t frame_memory() const;

  /// Lets `tap` see the frames of a link from now on; nullptr: nobody. It has to outlive its use.
  void set_tap(std::uint32_t link, Tap* tap);

 private:
  explicit Fabric(std::unique_ptr<detail::State> state);
  std::unique_ptr<detail::State> state_;
};

}  // namespace roce::fabric
