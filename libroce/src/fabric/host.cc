// SPDX-License-Identifier: BSD-2-Clause
// Hosts while time passes: a card that is asked for a packet whenever its link is free, and a program that posts
// and polls.
#include <algorithm>
#include <utility>

#include "fabric/must.h"
#include "fabric/state.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/packet.h"

namespace roce::fabric::detail {

namespace {

constexpr std::uint32_t kPosted = 4;  ///< messages of a queue pair that are posted at once

/// Notes what switches read of a frame.
void read_frame(Frame& frame, Bytes bytes) {
  const std::byte* ip = bytes.data() + kSize<Ethernet>;
  const std::byte* udp = ip + kSize<Ipv4>;
  const auto source = static_cast<std::uint32_t>(load_big_endian<4>(ip + 12));
  const auto destination = static_cast<std::uint32_t>(load_big_endian<4>(ip + 16));
  constexpr std::uint32_t scatter = 0x9E37'79B1;  // an odd number with many ones
  frame.size = static_cast<std::uint32_t>(bytes.size());
  frame.to = host_of(destination);
  frame.hash = (source * scatter ^ destination) * scatter ^ FieldOf<&Udp::source_port>::get(udp);
  frame.priority = static_cast<std::uint8_t>(FieldOf<&Ipv4::dscp>::get(ip) >> 3U);
  frame.is_ect = FieldOf<&Ipv4::ecn>::get(ip) != 0;
  frame.is_pfc = false;
}

/// Posts as many messages of the flows that have begun as may be under way.
void post(State& state, std::uint32_t index) {
  QueuePair& qp = state.queue_pairs[index];
  Host& host = state.hosts[qp.host];
  const transport::MrInfo& sink = state.hosts[state.queue_pairs[index ^ 1U].host].sink;
  while (qp.outstanding < kPosted && qp.posted < qp.flows.size()) {
    const std::uint32_t id = qp.flows[qp.posted];
    Transfer& transfer = state.transfers[id];
    const std::uint64_t bytes = std::min<std::uint64_t>(kMessage, state.flows[id].bytes - transfer.posted);
    const transport::Sge piece{host.source.address, static_cast<std::uint32_t>(bytes), host.source.l_key};
    must(host.device->post_send(qp.qpn, {.wr_id = id,
                                         .opcode = transport::WorkOpcode::write_with_immediate,
                                         .sges = {&piece, 1},
                                         .immediate = id,
                                         .remote = {.address = sink.address, .r_key = sink.r_key}}));
    ++qp.outstanding;
    transfer.posted += bytes;
    if (transfer.posted == state.flows[id].bytes) ++qp.posted;
  }
}

/// Ends a flow, and begins those that waited for it.
void end_flow(State& state, std::uint32_t id) {
  if (state.flows[id].bytes != kEndless) --state.unfinished;
  const Transfer& transfer = state.transfers[id];
  QueuePair& qp = state.queue_pairs[transfer.queue_pair];
  const auto place = std::ranges::find(qp.flows, id);
  if (place - qp.flows.begin() < static_cast<std::ptrdiff_t>(qp.posted)) --qp.posted;
  qp.flows.erase(place);
  for (std::uint32_t next = transfer.first_follower; next != kNone; next = state.transfers[next].next_follower) {
    const Picoseconds start = picoseconds_of(state.flows[next].start);
    state.events.add(std::max(start, state.now), EventKind::flow_start, next);
  }
}

void take_message(State& state, std::uint32_t id, std::uint32_t bytes) {
  Transfer& transfer = state.transfers[id];
  QueuePair& receiver = state.queue_pairs[transfer.queue_pair ^ 1U];
  Host& host = state.hosts[receiver.host];
  must(host.device->post_srq_receive(host.srq, {.wr_id = kNone}));
  receiver.expected = must(host.device->query_qp(receiver.qpn)).rq_psn.value();
  transfer.state.delivered += bytes;
  if (transfer.state.failed || transfer.state.delivered != state.flows[id].bytes) return;
  transfer.state.finished = time_of(state.now);
  end_flow(state, id);
}

void fail(State& state, std::uint32_t id) {
  FlowState& flow = state.transfers[id].state;
  if (flow.failed || flow.finished) return;
  flow.delivered = delivered_of(state, id);
  flow.failed = true;
  end_flow(state, id);
}

/// Handles what has completed at a host.
void poll(State& state, Host& host) {
  std::array<transport::Completion, 16> done{};
  while (const std::size_t count = host.device->poll_cq(host.cq, done)) {
    for (const transport::Completion& completion : std::span{done}.first(count)) {
      const bool succeeded = completion.status == transport::CompletionStatus::success;
      if (completion.wr_id == kNone) {
        if (succeeded) take_message(state, completion.immediate, completion.byte_length);
        continue;
      }
      const auto id = static_cast<std::uint32_t>(completion.wr_id);
      if (!succeeded) fail(state, id);
      const std::uint32_t index = state.transfers[id].queue_pair;
      --state.queue_pairs[index].outstanding;
      post(state, index);
    }
  }
}

void expect_timer(State& state, NodeId id) {
  Host& host = state.hosts[id];
  const Time next = host.device->next_timeout();
  if (next == kNever) return;
  const Picoseconds at = std::max(picoseconds_of(next), state.now);
  if (host.timer_at >= 0 && host.timer_at <= at) return;
  host.timer_at = at;
  state.events.add(at, EventKind::host_timer, id);
}

}  // namespace

std::uint64_t delivered_of(const State& state, std::uint32_t id) {
  constexpr std::uint32_t psn_mask = 0xFF'FFFF;
  const Transfer& transfer = state.transfers[id];
  const QueuePair& sender = state.queue_pairs[transfer.queue_pair];
  if (sender.flows.empty() || sender.flows.front() != id) return transfer.state.delivered;
  // A part of a message has come: its packets are counted by the PSN that is expected next.
  const QueuePair& receiver = state.queue_pairs[transfer.queue_pair ^ 1U];
  const std::uint32_t next = must(state.hosts[receiver.host].device->query_qp(receiver.qpn)).rq_psn.value();
  return transfer.state.delivered + std::uint64_t{(next - receiver.expected) & psn_mask} * mtu_of(state, id);
}

void begin_flow(State& state, std::uint32_t id) {
  Transfer& transfer = state.transfers[id];
  transfer.state.started = time_of(state.now);
  QueuePair& qp = state.queue_pairs[transfer.queue_pair];
  qp.flows.push_back(id);
  post(state, transfer.queue_pair);
  serve_host(state, qp.host);
}

void serve_host(State& state, NodeId id) {
  Host& host = state.hosts[id];
  Port& port = state.ports[host.port];
  if (port.free_at <= state.now && port.pfc != kNone) {
    begin_to_send(state, host.port, std::exchange(port.pfc, kNone), state.now);
  } else if (port.free_at <= state.now) {
    const std::uint32_t frame_id = state.frames.take();
    std::array<transport::TxUnit, 1> unit{};
    if (host.device->transmit(state.frames.room(frame_id), unit, {}, time_of(state.now)) == 0) {
      state.frames.give_back(frame_id);
    } else {
      read_frame(state.frames[frame_id], unit[0].bytes);
      ++state.totals.packets;
      // A link that has been free for less than a nanosecond was never idle: devices see whole ones.
      constexpr Picoseconds nanosecond = 1000;
      const bool is_late = state.now - port.free_at < nanosecond && port.free_at > 0;
      begin_to_send(state, host.port, frame_id, is_late ? port.free_at : state.now);
    }
  }
  const bool has_more = port.pfc != kNone || host.device->has_output();
  if (port.free_at > state.now && has_more) expect_free(state, host.port);
  expect_timer(state, id);
}

void receive_at_host(State& state, NodeId id, std::uint32_t frame_id) {
  Host& host = state.hosts[id];
  const Packet packet = parse_frame(state.frames.bytes(frame_id), LinkType::ethernet);
  const bool is_pfc = state.frames[frame_id].is_pfc;
  if (is_pfc) {
    Port& port = state.ports[host.port];
    port.pauses.receive(packet, port.rate_bps, state.now);
  } else {
    host.device->receive(packet, time_of(state.now));
  }
  state.frames.give_back(frame_id);
  if (is_pfc) return take_pauses(state, host.port);
  poll(state, host);
  serve_host(state, id);
}

void on_host_timer(State& state, NodeId id) {
  Host& host = state.hosts[id];
  if (host.timer_at != state.now) return;  // an earlier one took its place
  host.timer_at = -1;
  host.device->advance(time_of(state.now));
  poll(state, host);
  serve_host(state, id);
}

std::uint8_t stormed(const State& state, NodeId id) {
  unsigned priorities = 0;
  for (const Storm& storm : state.config.storms) {
    const Picoseconds start = picoseconds_of(storm.start);
    const bool has_begun = storm.host == id && start <= state.now;
    const bool is_over = storm.duration && start + picoseconds_of(*storm.duration) <= state.now;
    if (has_begun && !is_over) priorities |= bit_of(storm.priority);
  }
  return static_cast<std::uint8_t>(priorities);
}

void pause_host(State& state, NodeId id) {
  Host& host = state.hosts[id];
  for (std::uint8_t priority = 0; priority < kPriorities; ++priority) {
    must(host.device->set_paused(priority, (state.ports[host.port].paused & bit_of(priority)) != 0));
  }
  serve_host(state, id);
}

}  // namespace roce::fabric::detail
