// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/datagram_side.h"

#include <fmt/format.h>

#include <chrono>

#include "roce/transport/network_header.h"

namespace roce::gen {

namespace {

constexpr std::uint32_t kHeaderArea = transport::kNetworkHeaderArea;

[[nodiscard]] MessageOptions fitting(const live::Endpoint& endpoint, MessageOptions options) {
  if (options.size <= endpoint.max_path_mtu()) return options;
  throw live::ScriptFailure(
      fmt::format("a datagram of {} bytes does not fit the path MTU of {}", options.size, endpoint.max_path_mtu()));
}

}  // namespace

DatagramSide::DatagramSide(live::Endpoint& endpoint, MessageOptions options, Time now)
    : options_(fitting(endpoint, options)),
      domain_(endpoint.device()),
      memory_(domain_, options.size + std::size_t{kReceives} * (kHeaderArea + options.size)),
      qp_(endpoint, domain_, {.type = transport::QpType::ud, .max_send = options.count, .max_receive = kReceives}) {
  transport::QpChange to_init{.state = transport::QpState::init};
  to_init.p_key_index = std::uint16_t{0};
  to_init.port = std::uint8_t{1};
  to_init.q_key = kUdpPortSpaceQKey;
  qp_.modify(to_init, now, "move the queue pair to INIT");
  qp_.modify({.state = transport::QpState::rtr}, now, "move the queue pair to RTR");
  qp_.modify({.state = transport::QpState::rts, .sq_psn = Psn{0}}, now, "move the queue pair to RTS");
  for (std::uint32_t slot = 0; slot < kReceives; ++slot) post_receive(slot);
}

std::size_t DatagramSide::offset_of(std::uint32_t slot) const {
  return options_.size + std::size_t{slot} * (kHeaderArea + options_.size);
}

void DatagramSide::post_receive(std::uint32_t slot) {
  qp_.post_receive(slot, memory_.sge(offset_of(slot), kHeaderArea + options_.size));
}

live::Task<> DatagramSide::send(transport::DatagramAddress to) {
  const transport::Sge sge = memory_.sge(0, options_.size);
  for (std::uint32_t i = 0; i < options_.count; ++i) {
    transport::SendRequest request;
    request.wr_id = i;
    request.opcode = transport::WorkOpcode::send_with_immediate;
    request.immediate = qp_.qpn().value();
    request.sges = {&sge, 1};
    request.datagram = to;
    qp_.post_send(request);
  }
  for (std::uint32_t i = 0; i < options_.count; ++i) {
    co_await live::until([&] { return qp_.has_sent(); });
    (void)qp_.take_sent();
  }
}

live::Task<DatagramSide::Arrival> DatagramSide::receive(ProgramReport& report, Duration patience) {
  Arrival arrival;
  for (std::uint32_t i = 0; i < options_.count; ++i) {
    const Time now = co_await live::this_time{};
    const bool has_come = co_await live::until([&] { return qp_.has_received(); }, now + patience);
    if (!has_come) {
      throw live::ScriptFailure(
          fmt::format("{} of {} messages came, and nothing more for {} s; datagrams that are lost are "
                      "not sent again",
                      i, options_.count, std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    }
    const transport::Completion completion = qp_.take_received();
    if (completion.byte_length != kHeaderArea + options_.size || !completion.has_immediate) {
      throw live::ScriptFailure(fmt::format(
          "a message of {} bytes {} immediate data came, expected {} with; use the same -S on both sides",
          completion.byte_length - kHeaderArea, completion.has_immediate ? "with" : "without", options_.size));
    }
    const auto slot = static_cast<std::uint32_t>(completion.wr_id);
    const auto addresses = transport::addresses_in(memory_.bytes(offset_of(slot), kHeaderArea));
    arrival.peer = {.local = addresses->destination, .remote = addresses->source};
    arrival.qpn = Qpn{completion.immediate & Qpn::kMax};
    post_receive(slot);
    ++report.messages;
    report.bytes += options_.size;
  }
  co_return arrival;
}

}  // namespace roce::gen
