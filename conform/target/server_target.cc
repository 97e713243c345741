// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/server_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "conform/target/device_frame.h"
#include "roce/wire/aeth.h"
#include "roce/wire/packet.h"

namespace roce::conform {

namespace {

/// The region of a server that offers no memory.
constexpr std::uint64_t kNowhere = 0x1000;

// So many messages a server of few (-n) still has to get.
constexpr int kMostFarewells = 4;
// A case sends at most so many packets before it awaits an answer.
constexpr std::uint32_t kMostUnacknowledged = 66;
// An emulated device takes tens of milliseconds.
constexpr Duration kPatience = std::chrono::milliseconds{100};

[[noreturn]] void lack_agent() {
  throw DeviceLacks("an agent, which could ask it or tell it something");
}

}  // namespace

ServerTarget::ServerTarget(ServerDevice& device, std::uint64_t seed) : device_(device) {
  std::mt19937_64 random{seed};
  own_ = {.qpn = device.wire().next_peers(), .first = draw_psn(random())};
  expected_ = own_.first;
}

ServerTarget::~ServerTarget() {
  if (session_) {
    try {
      say_goodbye();
    } catch (const DeviceGone&) {
      // Without a link nothing can be said.
    }
  }
  session_.reset();
  device_.part();
}

live::Result<void> ServerTarget::meet() {
  if (session_) return {};
  live::Result<ServerSession> session = device_.meet(own_);
  if (!session) return tl::unexpected(session.error());
  session_ = std::move(*session);
  next_ = session_->qp.first;
  if (session_->qp.expected) own_.first = expected_ = *session_->qp.expected;
  return {};
}

bool ServerTarget::has(std::string_view feature) const {
  // The type of the QP decides later: a case may have instances of several types.
  constexpr std::array<std::string_view, 3> types{"rc", "uc", "ud"};
  if (feature == "ipv4") return port().device_gid.is_ipv4_mapped();
  return std::ranges::find(types, feature) != types.end();
}

bool ServerTarget::carries_out(Operation operation) const {
  if (operation == Operation::send) return device_.program().takes_sends;
  return operation == Operation::write && device_.program().takes_writes;
}

void ServerTarget::give_up(const std::string& why) const {
  throw DeviceGone(why, device_.wire().is_up() ? Damage::none : Damage::no_link);
}

TargetResult<QpNumber> ServerTarget::create_qp(const QpSetup& setup) {
  const ServerProgram& program = device_.program();
  if (setup.type != program.type) {
    throw DeviceLacks(
        fmt::format("a QP of type {}: that of {} is {}", to_string(setup.type), program.name, to_string(program.type)));
  }
  if (has_qp_) throw DeviceLacks("a second QP, without an agent");
  if (const live::Result<void> met = meet(); !met) give_up(met.error().message);
  // A datagram may be as long as the port allows.
  if (setup.type != transport::QpType::ud && setup.path_mtu != session_->qp.path_mtu) {
    throw DeviceLacks(
        fmt::format("a path MTU of {}: that of {} is {}", setup.path_mtu, program.name, session_->qp.path_mtu));
  }
  has_qp_ = true;
  return 0;
}

QpSetup ServerTarget::made(QpNumber /*qp*/, const QpSetup& asked) const {
  QpSetup setup = asked;
  setup.rq_psn = own_.first;
  setup.sq_psn = session_->qp.first;
  if (setup.type == transport::QpType::ud) setup.q_key = device_.program().q_key;
  return setup;
}

Qpn ServerTarget::qpn(QpNumber /*qp*/) const {
  return session_->qp.qpn;
}

TargetResult<Region> ServerTarget::create_region(const RegionSetup& setup) {
  Region region{.address = kNowhere, .length = setup.length};
  // The memory of receives is the program's business.
  if (!device_.program().takes_writes || setup.access == transport::Access::local_write) return region;
  if (const live::Result<void> met = meet(); !met) give_up(met.error().message);
  const Region& offered = *session_->qp.memory;
  if (setup.length > offered.length) {
    throw DeviceLacks(
        fmt::format("a region of {} bytes: {} offers {}", setup.length, device_.program().name, offered.length));
  }
  region.address = offered.address;
  region.r_key = offered.r_key;
  return region;
}

TargetResult<void> ServerTarget::deregister(RegionNumber /*region*/) {
  lack_agent();
}

TargetResult<WindowNumber> ServerTarget::create_window(const WindowSetup& /*setup*/) {
  lack_agent();
}

std::uint32_t ServerTarget::window_key(WindowNumber /*window*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::destroy_window(WindowNumber /*window*/) {
  lack_agent();
}

TargetResult<SrqNumber> ServerTarget::create_srq() {
  lack_agent();
}

TargetResult<void> ServerTarget::arm_srq(SrqNumber /*srq*/, std::uint32_t /*limit*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::post_srq_receive(SrqNumber /*srq*/, std::uint64_t /*wr_id*/,
                                                  const transport::Sge& /*buffer*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::post_bind(QpNumber /*qp*/, const BindOrder& /*order*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::modify(QpNumber /*qp*/, const transport::QpChange& /*change*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::bring_up(QpNumber /*qp*/, const QpSetup& /*setup*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::destroy_qp(QpNumber /*qp*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::attach(QpNumber /*qp*/, const std::string& /*group*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::detach(QpNumber /*qp*/, const std::string& /*group*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::arm_cq(QpNumber /*qp*/, const CqArming& /*arming*/) {
  lack_agent();
}

transport::QpState ServerTarget::state(QpNumber /*qp*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::post_send(QpNumber /*qp*/, const SendOrder& /*order*/) {
  lack_agent();
}

TargetResult<void> ServerTarget::post_receive(QpNumber /*qp*/, std::uint64_t /*wr_id*/,
                                              std::span<const transport::Sge> /*buffers*/) {
  return {};
}

std::optional<transport::Completion> ServerTarget::poll(QpNumber /*qp*/, bool /*is_receive*/) {
  lack_agent();
}

std::optional<transport::EventType> ServerTarget::poll_event() {
  lack_agent();
}

std::map<std::string, std::uint64_t> ServerTarget::counters() {
  return {};
}

std::vector<std::byte> ServerTarget::read_memory(std::size_t /*offset*/, std::size_t /*length*/) {
  return {};
}

std::optional<std::size_t> ServerTarget::find_difference(std::span<const std::byte> /*expected*/) {
  return std::nullopt;
}

std::optional<SeenFrame> ServerTarget::receive(Time until) {
  std::optional<SeenFrame> frame = device_.wire().receive(until);
  if (!frame || !session_) return frame;
  const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
  if (session_->connection && packet.is_roce() && packet.bth().dest_qp == kQp1) {
    // The program may end with what the case has sent to it, and says so: of no rule's business.
    session_->connection->take(packet);
    return receive(until);
  }
  const OpcodeInfo& info = packet.info();
  if (info.operation == Operation::send && packet.bth().dest_qp == own_.qpn) {
    frame->is_of_program = true;
    frame->answer = take_request(packet);
  } else if (const std::optional<Aeth> aeth = packet.get<Aeth>()) {
    const bool is_nak = aeth->syndrome.kind() != AethKind::ack;
    const Psn behind = is_nak ? packet.bth().psn : packet.bth().psn + 1;
    if (behind.newer_than(expected_)) expected_ = behind;
  }
  return frame;
}

std::vector<std::byte> ServerTarget::take_request(const Packet& packet) {
  if (device_.program().type != transport::QpType::rc) return {};
  const Bth bth = packet.bth();
  // One that was lost is sent again when its time is up.
  if (bth.psn.newer_than(next_)) return {};
  if (bth.psn == next_) {
    next_ = next_ + 1;
    if (packet.info().ends_message()) msn_ = msn_ + 1;
  }
  if (!bth.ack_req) return {};
  std::vector<std::byte> answer =
      frame_to_server(Opcode::rc_acknowledge, {{"bth.psn", fmt::format("{}", (next_ - 1).value())},
                                               {"aeth.syndrome", fmt::format("{}", AethSyndrome::ack().value())},
                                               {"aeth.msn", fmt::format("{}", msn_.value())}});
  send(answer);
  return answer;
}

std::vector<std::byte> ServerTarget::frame_to_server(
    Opcode opcode, const std::vector<std::pair<std::string_view, std::string>>& values) const {
  std::vector<std::pair<std::string_view, std::string>> fields{
      {"bth.dest_qp", fmt::format("{}", session_->qp.qpn.value())}};
  fields.insert(fields.end(), values.begin(), values.end());
  return frame_to_device(port(), opcode, fields);
}

void ServerTarget::say_goodbye() {
  if (session_->talk) return;
  const transport::QpType type = device_.program().type;
  if (type != transport::QpType::rc) {
    // One that nothing can fail ends when it has had its messages. UC and UD take a message with any PSN.
    std::vector<std::pair<std::string_view, std::string>> values{{"payload_length", "4"}};
    if (type == transport::QpType::ud) {
      values.emplace_back("deth.q_key", fmt::format("{}", device_.program().q_key.value()));
      values.emplace_back("deth.src_qp", fmt::format("{}", own_.qpn.value()));
    }
    const Opcode opcode = type == transport::QpType::ud ? Opcode::ud_send_only : Opcode::uc_send_only;
    for (int i = 0; i < kMostFarewells; ++i) {
      send(frame_to_server(opcode, values));
      if (!receive(now() + kPatience)) return;
    }
    return;
  }
  // One on RC ends when its QP fails, which a READ without a right makes it. What the case sent last may be executed
  // without an acknowledgement, so the PSN that the device expects is one of several.
  for (std::uint32_t i = 0; i < kMostUnacknowledged; ++i) {
    send(frame_to_server(Opcode::rc_read_request,
                         {{"bth.psn", fmt::format("{}", (expected_ + i).value())}, {"reth.dma_length", "4"}}));
  }
  if (session_->connection) session_->connection->close();
}

}  // namespace roce::conform
