// SPDX-License-Identifier: BSD-2-Clause
#include "endpoint_pair.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

namespace roce::bench {

namespace {

using transport::Access;

constexpr std::size_t kUnits = 16;
constexpr std::size_t kUnitBytes = 4352;
constexpr std::uint64_t kRegionStart = 0x10000;

/// Returns the value, or ends the program with a message that names `what` failed.
template <typename T>
T need(transport::VerbResult<T>&& result, std::string_view what) {
  if (!result) {
    std::cerr << what << ": " << to_string(result.error()) << '\n';
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Lets `emplace` make a packet in its final place: it converts to the result of `parse_frame`.
struct InPlace {
  Bytes frame;
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator Packet() const { return parse_frame(frame, LinkType::ethernet); }
};

Gid gid_of(std::uint8_t number) {
  return Gid::from_ipv4(Ipv4Address{{192, 0, 2, number}});
}
MacAddress mac_of(std::uint8_t number) {
  return MacAddress{{2, 0, 0, 0, 0, number}};
}

}  // namespace

EndpointPair::End EndpointPair::make_end(const PairShape& shape, std::uint8_t number) {
  transport::DeviceConfig config;
  config.mac = mac_of(number);
  config.gids = {{.gid = gid_of(number)}};
  // One of `messages_per_ack` requests asks for an ACK and gets it at once, because time stands still here.
  config.profile.messages_per_ack_request = shape.messages_per_ack;
  config.profile.ack_coalesce_packets = 1;
  config.limits.max_qp = std::max(shape.qps, 16U);
  config.shard_bits = shape.shard_bits;
  config.shard = shape.shard;
  std::uint64_t random = number;
  End end{need(transport::Device::make(config, [random]() mutable { return random += 0x9E3779B97F4A7C15; }), "device")};
  end.memory.resize(shape.region_bytes);
  for (std::size_t i = 0; i < end.memory.size(); ++i) end.memory[i] = static_cast<std::byte>((i * 7 >> 3) + number);
  const transport::Pd pd = need(end.device.create_pd(), "pd");
  end.cq = need(end.device.create_cq(65536), "cq");
  const transport::Mr mr =
      need(end.device.register_memory(pd, {.memory = end.memory,
                                           .access = Access::local_write | Access::remote_write | Access::remote_read,
                                           .address = kRegionStart}),
           "mr");
  end.region = need(end.device.query_mr(mr), "mr");
  for (std::uint32_t i = 0; i < shape.qps; ++i) {
    end.qps.push_back(need(end.device.create_qp({.type = transport::QpType::rc,
                                                 .pd = pd,
                                                 .send_cq = end.cq,
                                                 .receive_cq = end.cq,
                                                 .max_send = shape.max_send,
                                                 .max_receive = shape.max_send,
                                                 .max_send_sge = 1,
                                                 .max_receive_sge = 1}),
                           "qp"));
  }
  return end;
}

void EndpointPair::connect(End& end, const End& peer, const PairShape& shape, std::uint8_t peer_number) {
  for (std::size_t i = 0; i < end.qps.size(); ++i) {
    const Qpn qp = end.qps[i];
    need(end.device.modify_qp(qp,
                              {.state = transport::QpState::init,
                               .p_key_index = 0,
                               .port = 1,
                               .access = Access::remote_write | Access::remote_read},
                              Time{}),
         "INIT");
    need(end.device.modify_qp(
             qp,
             {.state = transport::QpState::rtr,
              .address = transport::AddressVector{.dgid = gid_of(peer_number), .destination_mac = mac_of(peer_number)},
              .path_mtu = shape.mtu,
              .dest_qp = peer.qps[i],
              .rq_psn = Psn{1},
              .max_dest_rd_atomic = 1,
              .min_rnr_timer = 12},
             Time{}),
         "RTR");
    need(end.device.modify_qp(qp,
                              {.state = transport::QpState::rts,
                               .sq_psn = Psn{1},
                               .max_rd_atomic = 1,
                               .timeout = 14,
                               .retry_count = 7,
                               .rnr_retry = 7},
                              Time{}),
         "RTS");
  }
}

EndpointPair::EndpointPair(const PairShape& shape)
    : requester_(make_end(shape, 1)),
      responder_(make_end(shape, 2)),
      buffer_(kUnits * kUnitBytes),
      units_(kUnits),
      packets_(kUnits) {
  connect(requester_, responder_, shape, 2);
  connect(responder_, requester_, shape, 1);
  // Receives are posted ahead of the messages, as by a program that wants speed: the ACKs then grant credits.
  for (const Qpn qp : responder_.qps) {
    for (std::uint32_t i = 0; i < shape.receives_ahead; ++i)
      post_receive(qp, static_cast<std::uint32_t>(shape.region_bytes));
  }
}

void EndpointPair::post_receive(Qpn qp, std::uint32_t bytes) {
  const transport::Sge to{kRegionStart, bytes, responder_.region.l_key};
  need(responder_.device.post_receive(qp, {.sges = {&to, 1}}), "receive");
}

void EndpointPair::post(std::uint32_t qp, transport::WorkOpcode opcode, std::uint32_t bytes) {
  if (opcode == transport::WorkOpcode::send) {
    post_receive(responder_.qps[qp], bytes);
    ++receives_;
  }
  const transport::Sge sge{kRegionStart, bytes, requester_.region.l_key};
  need(
      requester_.device.post_send(
          requester_.qps[qp], {.opcode = opcode, .sges = {&sge, 1}, .remote = {kRegionStart, responder_.region.r_key}}),
      "request");
}

bool EndpointPair::carry(End& from, End& to) {
  const std::size_t count = from.device.transmit(buffer_, units_, {.max_bytes = kUnitBytes}, Time{});
  // A burst, as a link delivers it; each packet is made where it stays.
  for (std::size_t i = 0; i < count; ++i) {
    to.device.prefetch(packets_[i].emplace(InPlace{units_[i].bytes}));
  }
  for (std::size_t i = 0; i < count; ++i) to.device.receive(*packets_[i], Time{});
  return count != 0;
}

void EndpointPair::collect(End& end) {
  std::array<transport::Completion, 64> completions;
  while (const std::size_t count = end.device.poll_cq(end.cq, completions)) {
    for (std::size_t i = 0; i < count; ++i) {
      ++(completions[i].status == transport::CompletionStatus::success ? end.successes : end.failures);
    }
  }
}

void EndpointPair::run() {
  bool moved = true;
  while (moved) {
    const bool there = carry(requester_, responder_);
    const bool back = carry(responder_, requester_);
    moved = there || back;
  }
  collect(requester_);
  collect(responder_);
}

bool EndpointPair::all_completed(std::uint64_t messages) {
  return requester_.successes == messages && requester_.failures == 0 && responder_.successes == receives_ &&
         responder_.failures == 0;
}

bool EndpointPair::memories_equal(std::size_t bytes) const {
  return std::equal(requester_.memory.begin(), requester_.memory.begin() + static_cast<std::ptrdiff_t>(bytes),
                    responder_.memory.begin());
}

std::size_t EndpointPair::memory_per_qp() const {
  return requester_.device.memory_of(requester_.qps.front()).value_or(0);
}

}  // namespace roce::bench
