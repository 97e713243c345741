// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "fabric/egress.h"
#include "fabric/event_queue.h"
#include "fabric/frame_pool.h"
#include "fabric/ingress.h"
#include "fabric/pauses.h"
#include "fabric/routes.h"
#include "roce/fabric/fabric.h"
#include "roce/transport/device.h"

namespace roce::fabric::detail {

inline constexpr std::uint32_t kMessage = 1U << 20U;         ///< bytes of the longest WRITE
inline constexpr std::uint32_t kFirstAddress = 0x0A00'0001;  ///< IPv4 address of host 0: 10.0.0.1

/// Returns the host that has an IPv4 address.
[[nodiscard]] constexpr NodeId host_of(std::uint32_t address) {
  return address - kFirstAddress;
}

/// One end of a link, and what it sends into it.
struct Port {
  NodeId node = 0;
  NodeId other = 0;
  std::uint64_t rate_bps = 0;
  Picoseconds delay = 0;
  double loss = 0;
  Picoseconds free_at = 0;    ///< the last byte of what was sent, with the gap, has gone
  bool is_expected = false;   ///< a `port_free` event is there
  std::uint32_t pfc = kNone;  ///< a frame of flow control that goes before all others
  Pauses pauses;
  std::uint8_t paused = 0;   ///< priorities that the other end has stopped
  std::uint8_t ignored = 0;  ///< priorities of which the watchdog drops everything
  PortCounters counters{};
  std::array<Picoseconds, kPriorities> paused_since{};
  std::array<Picoseconds, kPriorities> paused_for{};
  Tap* tap = nullptr;

  /// Returns how long a frame of `bytes` bytes without FCS takes, with FCS, preamble and gap.
  [[nodiscard]] Picoseconds transmission(std::uint32_t bytes) const {
    constexpr std::uint64_t extra = 24;
    constexpr std::uint64_t bit_picoseconds = 8'000'000'000'000;
    return static_cast<Picoseconds>((bytes + extra) * bit_picoseconds / rate_bps);
  }
};

/// The part of a port that only switches have, but for its requests.
struct SwitchPort {
  Egress egress;
  Ingress ingress;
  PauseRequests requests;     ///< of hosts too
  std::uint32_t leaving = 0;  ///< bytes of the frame that leaves
  std::uint8_t leaving_priority = 0;
  /// Since when a queue with frames has been paused without sending one; -1: it is not.
  std::array<Picoseconds, kPriorities> blocked_since{-1, -1, -1, -1, -1, -1, -1, -1};
};

struct Switch {
  SharedBuffer buffer;
  std::uint32_t salt = 0;  ///< so that switches of a row choose by different bits of a flow's hash
};

struct Host {
  std::unique_ptr<transport::Device> device;
  transport::Pd pd{};
  transport::Cq cq{};
  transport::Srq srq{};
  transport::MrInfo source{};
  transport::MrInfo sink{};
  PortId port = 0;
  Picoseconds timer_at = -1;  ///< of the `host_timer` event that counts; -1: there is none
};

/// One queue pair with its peer's: the two ends of a connection follow one another.
struct QueuePair {
  NodeId host = 0;
  Qpn qpn{};
  std::deque<std::uint32_t> flows;  ///< begun and not yet ended
  std::uint32_t posted = 0;         ///< so many of them, the first ones, are posted to their end
  std::uint32_t outstanding = 0;    ///< messages posted and not yet completed
  std::uint32_t expected = 0;       ///< PSN that it expected when the last message had come
};

struct Transfer {
  FlowState state{};
  std::uint64_t posted = 0;
  std::uint32_t queue_pair = 0;          ///< of its sender; that of its receiver is `queue_pair ^ 1`
  std::uint32_t first_follower = kNone;  ///< flows that wait for it, by `next_follower`
  std::uint32_t next_follower = kNone;
};

/// The whole state of a fabric. The functions that act on it are in the files named after their subjects.
struct State {
  State(Topology its_topology, const Config& its_config, std::vector<Flow> its_flows);

  Topology topology;
  Config config;
  std::vector<Flow> flows;
  std::uint32_t largest = 0;  ///< bytes of the largest frame

  Picoseconds now = 0;
  EventQueue events;
  FramePool frames;
  std::mt19937_64 random;  ///< of marks, losses and salts
  Routes routes;
  Quanta quanta{};

  std::vector<Port> ports;
  std::vector<SwitchPort> switch_ports;  ///< by port
  std::vector<Switch> switches;
  std::vector<Host> hosts;
  std::vector<QueuePair> queue_pairs;
  std::vector<Transfer> transfers;
  std::vector<std::byte> source;  ///< memory that all hosts send from
  std::vector<std::byte> sink;    ///< memory that all hosts receive into

  std::uint32_t unfinished = 0;  ///< flows with an end that have not arrived or failed
  Totals totals{};
  std::vector<WatchdogEvent> watchdog_events;

  [[nodiscard]] bool is_host(NodeId node) const { return topology.is_host(node); }
  [[nodiscard]] Switch& switch_of(NodeId node) { return switches[node - topology.hosts]; }
  /// Returns true with a chance of `chance`.
  [[nodiscard]] bool happens(double chance) {
    constexpr double step = 1.0 / 9007199254740992.0;  // 2^-53
    return static_cast<double>(random() >> 11U) * step < chance;
  }
};

/// Returns the first whole nanosecond that is not before a time: devices see those.
[[nodiscard]] inline Time time_of(Picoseconds at) {
  constexpr Picoseconds nanosecond = 1000;
  return Time{Duration{(at + nanosecond - 1) / nanosecond}};
}
[[nodiscard]] inline Picoseconds picoseconds_of(Duration duration) {
  return duration.count() * 1000;
}
[[nodiscard]] inline Picoseconds picoseconds_of(Time time) {
  return picoseconds_of(time.time_since_epoch());
}

// Links (link.cc).

/// Begins to send a frame from a port that is free.
void begin_to_send(State& state, PortId port, std::uint32_t frame, Picoseconds at);
/// Asks for a `port_free` event at the time when the port is free.
void expect_free(State& state, PortId port);
/// Notes the priorities that the other end has stopped, and asks for an event at the end of the first pause.
void take_pauses(State& state, PortId port);

// Hosts (host.cc, hosts_setup.cc).

/// Returns the Ethernet address of a host, whose one port has it too.
[[nodiscard]] MacAddress mac_of(NodeId host);
/// Makes devices, queue pairs and connections for the flows.
void set_up_hosts(State& state);
/// Returns the path MTU of a flow.
[[nodiscard]] std::uint32_t mtu_of(const State& state, std::uint32_t flow);
void begin_flow(State& state, std::uint32_t flow);
/// Returns the bytes of a flow that are in the receiver's memory.
[[nodiscard]] std::uint64_t delivered_of(const State& state, std::uint32_t flow);
/// Lets a host send a packet, if it has one and its link is free, and expects its next timer.
void serve_host(State& state, NodeId host);
void receive_at_host(State& state, NodeId host, std::uint32_t frame);
void on_host_timer(State& state, NodeId host);
/// Tells the device of a host which priorities its port may not send.
void pause_host(State& state, NodeId host);
/// Returns the priorities of its other end that a host's storms stop now: bit p is priority p.
[[nodiscard]] std::uint8_t stormed(const State& state, NodeId host);

// Switches (switch.cc, watchdog.cc).

void set_up_switches(State& state);
void receive_at_switch(State& state, PortId from, std::uint32_t frame);
/// Lets a switch's port that is free send what comes next.
void serve_port(State& state, PortId port);
/// Tells the other end of a port which priorities to hold.
void send_pauses(State& state, PortId port);
/// Gives the room of a frame that leaves the buffer back.
void leave_buffer(State& state, const Frame& frame);
/// Watches the queues of a port of a switch that are paused.
void watch(State& state, PortId port);
void on_watchdog(State& state, PortId port, std::uint32_t priority);
void on_watchdog_restore(State& state, PortId port, std::uint32_t priority);

}  // namespace roce::fabric::detail
