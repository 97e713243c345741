// SPDX-License-Identifier: BSD-2-Clause
#include "gen/udaddy.h"

#include <fmt/format.h>

#include "roce/transport/network_header.h"

namespace roce::gen {

namespace {

/// That of all UD queue pairs of the RDMA port space UDP (librdmacm: RDMA_UDP_QKEY).
constexpr QKey kQKey{0x01234567};
/// Receives that are posted at a time.
constexpr std::uint32_t kReceives = 64;
/// How long nothing may come. Datagrams that are lost stay lost.
constexpr Duration kPatience = std::chrono::seconds{10};

/// How the other end of a datagram queue pair is reached.
class AddressHandle {
 public:
  AddressHandle(const Domain& domain, const transport::AddressVector& address)
      : device_(domain.device()), ah_(granted(device_.create_ah(domain.pd(), address), "make an address handle")) {}
  ~AddressHandle() { (void)device_.destroy_ah(ah_); }
  AddressHandle(const AddressHandle&) = delete;
  AddressHandle& operator=(const AddressHandle&) = delete;

  [[nodiscard]] transport::Ah get() const { return ah_; }

 private:
  transport::Device& device_;
  transport::Ah ah_;
};

/// A datagram that came.
struct Arrival {
  cm::Peer peer{};
  Qpn qpn{};  ///< that the sender tells in the immediate data
};

/// A queue pair with all receives posted.
class Side {
 public:
  Side(RdmaCm& cm, MessageOptions options, Time now)
      : options_(options),
        domain_(cm.endpoint().device()),
        memory_(domain_, options.size + std::size_t{kReceives} * (kSlot + options.size)),
        qp_(cm.endpoint(), domain_,
            {.type = transport::QpType::ud, .max_send = options.count, .max_receive = kReceives}) {
    transport::QpChange to_init{.state = transport::QpState::init};
    to_init.p_key_index = std::uint16_t{0};
    to_init.port = std::uint8_t{1};
    to_init.q_key = kQKey;
    qp_.modify(to_init, now, "move the queue pair to INIT");
    qp_.modify({.state = transport::QpState::rtr}, now, "move the queue pair to RTR");
    qp_.modify({.state = transport::QpState::rts, .sq_psn = Psn{0}}, now, "move the queue pair to RTS");
    for (std::uint32_t slot = 0; slot < kReceives; ++slot) post_receive(slot);
  }

  [[nodiscard]] QueuePair& qp() { return qp_; }
  [[nodiscard]] const Domain& domain() const { return domain_; }

  Task<> send(const transport::DatagramAddress& to) {
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
      co_await until([&] { return qp_.has_sent(); });
      (void)qp_.take_sent();
    }
  }

  /// All that the peer sends; returns where the last came from.
  Task<Arrival> receive(ProgramReport& report) {
    Arrival arrival;
    for (std::uint32_t i = 0; i < options_.count; ++i) {
      const Time now = co_await this_time{};
      const bool has_come = co_await until([&] { return qp_.has_received(); }, now + kPatience);
      if (!has_come) {
        throw ScriptFailure(
            fmt::format("{} of {} messages came, and nothing more for 10 s; datagrams that are lost are "
                        "not sent again",
                        i, options_.count));
      }
      const transport::Completion completion = qp_.take_received();
      if (completion.byte_length != kSlot + options_.size || !completion.has_immediate) {
        throw ScriptFailure(
            fmt::format("a message of {} bytes {} immediate data came, expected {} with; use the same -S "
                        "on both sides",
                        completion.byte_length - kSlot, completion.has_immediate ? "with" : "without", options_.size));
      }
      const auto slot = static_cast<std::uint32_t>(completion.wr_id);
      const auto addresses = transport::addresses_in(memory_.bytes(offset_of(slot), kSlot));
      arrival.peer = {.local = addresses->destination, .remote = addresses->source};
      arrival.qpn = Qpn{completion.immediate & Qpn::kMax};
      post_receive(slot);
      ++report.messages;
      report.bytes += options_.size;
    }
    co_return arrival;
  }

 private:
  static constexpr std::uint32_t kSlot = transport::kNetworkHeaderArea;
  void post_receive(std::uint32_t slot) { qp_.post_receive(slot, memory_.sge(offset_of(slot), kSlot + options_.size)); }
  /// Of a receive: behind the message that is sent.
  [[nodiscard]] std::size_t offset_of(std::uint32_t slot) const {
    return options_.size + std::size_t{slot} * (kSlot + options_.size);
  }

  MessageOptions options_;
  Domain domain_;
  Memory memory_;
  QueuePair qp_;
};

[[nodiscard]] std::string too_long(const RdmaCm& cm, MessageOptions options) {
  return fmt::format("a datagram of {} bytes does not fit the path MTU of {}", options.size,
                     cm.endpoint().max_path_mtu());
}

}  // namespace

Task<> udaddy_server(RdmaCm& cm, CommId question, MessageOptions options, ProgramReport& report) {
  const Time now = co_await this_time{};
  if (options.size > cm.endpoint().max_path_mtu()) {
    cm::Resolution none;
    none.status = CmSidrStatus::rejected;
    granted(cm.manager().answer(question, none, now), "answer the question for a queue pair");
    throw ScriptFailure(too_long(cm, options));
  }
  Side side{cm, options, now};
  cm::Resolution resolution;
  resolution.qpn = side.qp().qpn();
  resolution.q_key = kQKey;
  granted(cm.manager().answer(question, resolution, now), "answer the question for a queue pair");
  report.begun = now;
  const Arrival arrival = co_await side.receive(report);
  const transport::AddressVector address = cm.address_of(arrival.peer);
  const AddressHandle ah{side.domain(), address};
  transport::DatagramAddress to;
  to.ah = ah.get();
  to.qpn = arrival.qpn;
  to.q_key = kQKey;
  co_await side.send(to);
  report.ended = co_await this_time{};
  report.counters = side.qp().counters();
}

Task<> udaddy_client(RdmaCm& cm, ConnectPlan plan, MessageOptions options, ProgramReport& report) {
  const Time now = co_await this_time{};
  if (options.size > cm.endpoint().max_path_mtu()) throw ScriptFailure(too_long(cm, options));
  Side side{cm, options, now};
  CmQuestion question{cm};
  const CmSidrRep found = co_await question.resolve(plan.to, plan.port);
  const cm::Peer peer{.local = cm.endpoint().gid(), .remote = plan.to};
  transport::AddressVector address = cm.address_of(peer);
  address.traffic_class = plan.traffic_class;
  const AddressHandle ah{side.domain(), address};
  report.begun = co_await this_time{};
  transport::DatagramAddress server;
  server.ah = ah.get();
  server.qpn = found.qpn;
  server.q_key = found.q_key;
  co_await side.send(server);
  (void)co_await side.receive(report);
  report.ended = co_await this_time{};
  report.counters = side.qp().counters();
}

}  // namespace roce::gen
