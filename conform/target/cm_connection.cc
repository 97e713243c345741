// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/cm_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

#include "conform/target/device_frame.h"
#include "roce/cm/gsi_agent.h"
#include "roce/live/control_request.h"
#include "roce/wire/mad.h"

namespace roce::conform {

namespace {

constexpr std::uint8_t kResponseTimeout = 17;  // half a second
constexpr Duration kPause = std::chrono::milliseconds{20};
constexpr Duration kFarewell = std::chrono::seconds{1};
constexpr std::uint8_t kDepth = 4;

tl::unexpected<live::Error> failure(const CmServer& server, std::string_view why) {
  return live::cannot(fmt::format("{} at port {} of RDMA CM: {}", server.program, server.port, why));
}

std::string reason_of(CmRejReason reason) {
  if (reason == CmRejReason::invalid_service_id) return "nobody listens there; start the program";
  return fmt::format("it rejects the connection, reason {}", static_cast<unsigned>(reason));
}

}  // namespace

live::Result<std::unique_ptr<CmConnection>> CmConnection::open(Wire& wire, const CmServer& server, Qpn own,
                                                               PathMtu path_mtu) {
  wire.hear_qp1();
  // The device must not take a connection for one of a run before.
  std::mt19937_64 random{std::random_device{}()};
  const cm::Config config{.ca_guid = cm::guid_of(wire.port().tester_mac), .response_timeout = kResponseTimeout};
  auto manager = cm::ConnectionManager::make(config, random);
  if (!manager) return failure(server, to_string(manager.error()));
  std::unique_ptr<CmConnection> connection{new CmConnection{wire, std::move(*manager)}};
  std::array<std::byte, kSize<Cma>> private_data{};
  write(address_header(wire.port()), private_data.data());
  const cm::ConnectRequest request{.peer = {.local = wire.port().tester_gid, .remote = wire.port().device_gid},
                                   .service = ServiceId{PortSpace::tcp, server.port},
                                   .qpn = own,
                                   .starting_psn = draw_psn(random()),
                                   .responder_resources = kDepth,
                                   .initiator_depth = kDepth,
                                   .path_mtu = path_mtu,
                                   .private_data = private_data};
  const Time end = wire.now() + server.patience;
  std::string last = "no answer";
  while (wire.now() < end) {
    const auto id = connection->manager_.connect(request, wire.now());
    if (!id) return failure(server, to_string(id.error()));
    const std::optional<cm::Event> event = connection->wait_for_event(end);
    if (!event) break;
    if (event->kind == cm::EventKind::reply) {
      connection->id_ = *id;
      connection->agreement_ = connection->manager_.find(*id)->agreement();
      (void)connection->manager_.confirm(*id, {}, wire.now());
      connection->send_messages();
      return connection;
    }
    // One that ends, or that has a client, rejects others.
    if (event->kind == cm::EventKind::rejected) last = reason_of(event->rejection.reason);
    (void)connection->wait_for_event(std::min(end, wire.now() + kPause));
  }
  return failure(server, last);
}

void CmConnection::send_messages() {
  while (const std::optional<cm::OutMessage> message = manager_.poll_message()) {
    wire_.send(frame_to_device(wire_.port(), Opcode::ud_send_only,
                               {{"bth.dest_qp", "1"},
                                {"deth.q_key", fmt::format("{}", kQp1QKey.value())},
                                {"deth.src_qp", "1"},
                                {"payload", live::to_hex(message->mad)}}));
  }
}

void CmConnection::take(const Packet& packet) {
  const std::optional<Layer> mad = packet.find(HeaderId::mad);
  if (!mad || packet.bytes().size() < mad->offset + kMadSize) return;
  manager_.receive(packet.bytes().subspan(mad->offset, kMadSize),
                   {.local = wire_.port().tester_gid, .remote = wire_.port().device_gid}, wire_.now());
  send_messages();
}

std::optional<cm::Event> CmConnection::wait_for_event(Time end) {
  for (;;) {
    send_messages();
    if (const std::optional<cm::Event> event = manager_.poll_event()) return event;
    if (wire_.now() >= end) return std::nullopt;
    const std::optional<SeenFrame> frame = wire_.receive(std::min(end, manager_.next_timeout()));
    if (frame) {
      const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
      const bool is_whole = packet.is_roce() && packet.problem().reason == ParseReason::none;
      if (is_whole) take(packet);
    }
    manager_.advance(wire_.now());
  }
}

void CmConnection::close() {
  if (!manager_.disconnect(id_, wire_.now())) return;
  const Time end = wire_.now() + kFarewell;
  while (const std::optional<cm::Event> event = wait_for_event(end)) {
    if (event->kind == cm::EventKind::disconnected) return;
  }
}

}  // namespace roce::conform
