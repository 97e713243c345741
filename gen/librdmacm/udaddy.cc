// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/udaddy.h"

#include <memory>

#include "gen/librdmacm/datagram_side.h"

namespace roce::gen {

namespace {

/// The longest time without a message. Datagrams that are lost are not sent again.
constexpr Duration kPatience = std::chrono::seconds{10};

[[nodiscard]] std::unique_ptr<DatagramSide> make_side(live::RdmaCm& cm, CommId question, MessageOptions options,
                                                      Time now) {
  try {
    return std::make_unique<DatagramSide>(cm.endpoint(), options, now);
  } catch (const live::ScriptFailure&) {
    (void)cm.manager().answer(question, {.status = CmSidrStatus::rejected}, now);
    throw;
  }
}

}  // namespace

live::Task<> udaddy_server(live::RdmaCm& cm, CommId question, MessageOptions options, ProgramReport& report) {
  const Time now = co_await live::this_time{};
  const std::unique_ptr<DatagramSide> side = make_side(cm, question, options, now);
  cm::Resolution resolution;
  resolution.qpn = side->qp().qpn();
  resolution.q_key = kUdpPortSpaceQKey;
  live::granted(cm.manager().answer(question, resolution, now), "answer the question for a queue pair");
  report.begun = now;
  const DatagramSide::Arrival arrival = co_await side->receive(report, kPatience);
  const transport::AddressVector address = cm.address_of(arrival.peer);
  const AddressHandle ah{side->domain(), address};
  transport::DatagramAddress to;
  to.ah = ah.get();
  to.qpn = arrival.qpn;
  to.q_key = kUdpPortSpaceQKey;
  co_await side->send(to);
  report.ended = co_await live::this_time{};
  report.counters = side->qp().counters();
}

live::Task<> udaddy_client(live::RdmaCm& cm, live::ConnectPlan plan, MessageOptions options, ProgramReport& report) {
  const Time now = co_await live::this_time{};
  DatagramSide side{cm.endpoint(), options, now};
  live::CmQuestion question{cm};
  const CmSidrRep found = co_await question.resolve(plan.to, plan.port);
  const cm::Peer peer{.local = cm.endpoint().gid(), .remote = plan.to};
  transport::AddressVector address = cm.address_of(peer);
  address.traffic_class = plan.traffic_class;
  const AddressHandle ah{side.domain(), address};
  report.begun = co_await live::this_time{};
  transport::DatagramAddress server;
  server.ah = ah.get();
  server.qpn = found.qpn;
  server.q_key = found.q_key;
  co_await side.send(server);
  (void)co_await side.receive(report, kPatience);
  report.ended = co_await live::this_time{};
  report.counters = side.qp().counters();
}

}  // namespace roce::gen
