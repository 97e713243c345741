// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/memory_cm.h"

#include <random>
#include <stdexcept>
#include <utility>

#include "roce/live/control_request.h"

namespace roce::conform {

namespace {

std::unique_ptr<cm::GsiAgent> make_agent(transport::Device& device, Time now, std::uint64_t seed) {
  cm::Config config;
  // Few enough that a case finds out whether those that are over keep their places.
  config.max_connections = 4096;
  config.ca_guid = cm::guid_of(device.config().mac);
  auto agent = cm::GsiAgent::make(
      device, config, [random = std::mt19937_64{seed}]() mutable { return random(); }, now);
  if (!agent) throw std::logic_error(to_string(agent.error()));
  return std::move(*agent);
}

live::CmDesk::Hooks hooks_of(cm::GsiAgent& agent, const transport::AddressVector& tester) {
  live::CmDesk::Hooks hooks;
  hooks.listen = [&agent](ServiceId service) -> TargetResult<void> {
    if (const auto done = agent.manager().listen(service); !done) return tl::unexpected(to_string(done.error()));
    return {};
  };
  hooks.stop_listening = [&agent](ServiceId service) { (void)agent.manager().stop_listening(service); };
  hooks.address_of = [tester](const cm::Peer& /*peer*/) { return tester; };
  // All events go to the desk.
  hooks.watch = hooks.forget = [](CommId /*id*/) {};
  return hooks;
}

live::CmTerms terms_of(const CmTerms& terms) {
  return {.service = terms.service,
          .responder_resources = terms.responder_resources,
          .initiator_depth = terms.initiator_depth,
          .rnr_retry = terms.rnr_retry,
          .service_timeout = terms.service_timeout,
          .reason = terms.reason,
          .info = live::from_hex(terms.info),
          .private_data = live::from_hex(terms.private_data)};
}

live::CmEnd end_of(const CmEnd& end) {
  return {.qpn = end.qpn,
          .type = end.setup.type,
          .rq_psn = end.setup.rq_psn,
          .path_mtu = end.setup.path_mtu,
          .retry_count = end.setup.retry_count,
          .min_rnr_timer = end.setup.min_rnr_timer,
          .q_key = end.setup.q_key};
}

}  // namespace

MemoryCm::MemoryCm(transport::Device& device, const Port& port, std::uint16_t sgid_index, const Time& now,
                   std::uint64_t seed)
    : port_(port),
      now_(now),
      agent_(make_agent(device, now, seed)),
      desk_(device, agent_->manager(), hooks_of(*agent_, {.sgid_index = sgid_index, .dgid = port.tester_gid})) {}

TargetResult<void> MemoryCm::sent(TargetResult<void> done) {
  step();
  return done;
}

TargetResult<void> MemoryCm::listen(const CmListener& listener) {
  live::CmListener wanted{.terms = terms_of(listener.terms), .ends = {}, .answers = listener.answers};
  for (const CmEnd& end : listener.ends) wanted.ends.push_back(end_of(end));
  return desk_.listen(wanted);
}

TargetResult<void> MemoryCm::accept(const CmTerms& terms) {
  return sent(desk_.accept(terms_of(terms), now_));
}

TargetResult<void> MemoryCm::reject(const CmTerms& terms) {
  return sent(desk_.reject(terms_of(terms), now_));
}

TargetResult<void> MemoryCm::delay(const CmTerms& terms) {
  return sent(desk_.delay(terms_of(terms), now_));
}

TargetResult<void> MemoryCm::connect(const CmEnd& end, const CmTerms& terms) {
  const cm::Peer peer{.local = port_.device_gid, .remote = port_.tester_gid};
  return sent(desk_.connect(peer, end_of(end), terms_of(terms), now_));
}

TargetResult<void> MemoryCm::disconnect(const CmEnd& end) {
  return sent(desk_.disconnect(end.qpn, now_));
}

std::optional<CmReport> MemoryCm::poll_event() {
  const std::optional<live::CmReport> report = desk_.take_report();
  if (!report) return std::nullopt;
  return CmReport{.kind = report->kind, .reason = report->reason, .private_data = live::to_hex(report->private_data)};
}

void MemoryCm::step() {
  // The frames that follow from an event may be sent at once, so that all is done when nothing more happens.
  do {
    (void)agent_->step(now_);
    bool happened = false;
    while (const auto event = agent_->manager().poll_event()) {
      happened = true;
      desk_.handle(*event, now_);
    }
    if (!happened) break;
  } while (true);
}

}  // namespace roce::conform
