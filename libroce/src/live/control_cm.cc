// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on the communication manager.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "live/carried_out.h"
#include "roce/live/control_session.h"
#include "roce/live/control_terms.h"
#include "roce/port/address_text.h"

namespace roce::live {

namespace {

constexpr std::uint8_t kLongestCode = 31;

}  // namespace

CmDesk& ControlSession::desk() {
  (void)acceptor();
  return *desk_;
}

CmDesk::Hooks ControlSession::hooks_of(RdmaCm& cm) {
  CmDesk::Hooks hooks;
  hooks.listen = [&cm, this](ServiceId service) -> CmDesk::Done<void> {
    const auto arrived = [&cm, this](CommId id, Time now) {
      const cm::Connection* const connection = cm.manager().find(id);
      const bool is_question = connection != nullptr && connection->state == cm::State::sidr_req_received;
      const auto kind = is_question ? cm::EventKind::resolve_request : cm::EventKind::request;
      desk_->handle({.kind = kind, .connection = id}, now);
    };
    if (const Result<void> listened = cm.take_over(service, arrived); !listened) {
      return tl::unexpected(listened.error().message);
    }
    return {};
  };
  hooks.stop_listening = [&cm](ServiceId service) { cm.give_back(service); };
  hooks.address_of = [&cm](const cm::Peer& peer) -> CmDesk::Done<transport::AddressVector> {
    try {
      return cm.address_of(peer);
    } catch (const ScriptFailure& failure) {
      return tl::unexpected(std::string{failure.what()});
    }
  };
  hooks.watch = [&cm, this](CommId id) {
    cm.watch(id, [this](const cm::Event& event) { desk_->handle(event, endpoint_.now()); });
  };
  hooks.forget = [&cm](CommId id) { cm.forget(id); };
  return hooks;
}

CmEnd ControlSession::cm_end_of(const Json& request) const {
  CmEnd end{.qpn = qp_of(request)};
  end.type = qps_.at(end.qpn).type;
  end.rq_psn = Psn{number<std::uint32_t>(request, "psn", 0, Psn::kMax, 0)};
  end.path_mtu = number<std::uint32_t>(request, "path_mtu", 256, endpoint_.max_path_mtu(), 1024);
  end.retry_count = number<std::uint8_t>(request, "retry_count", 0, 7, 7);
  end.min_rnr_timer = number<std::uint8_t>(request, "min_rnr_timer", 0, kLongestCode, 12);
  if (end.type == transport::QpType::ud) end.q_key = carried_out(device_.query_qp(end.qpn), "query_qp").q_key;
  return end;
}

ControlSession::Answer ControlSession::ordered(const CmDesk::Done<void>& done, const char* operation, Time now) {
  if (!done) throw Refusal(fmt::format("{}: {}", operation, done.error()));
  (void)cm_->step(now);
  return {};
}

ControlSession::Answer ControlSession::cm_listen(const Json& request, Time now) {
  CmListener listener{.terms = cm_terms_of(request), .ends = {}, .answers = !flag(request, "waits")};
  (void)cm_service_of(request);
  for (const Json& qp : list(request, "qps")) {
    if (!qp.is_object()) throw Refusal("\"qps\" needs a list of objects, each with \"qp\"");
    listener.ends.push_back(cm_end_of(qp));
  }
  return ordered(desk().listen(listener), "cm_listen", now);
}

ControlSession::Answer ControlSession::cm_accept(const Json& request, Time now) {
  return ordered(desk().accept(cm_terms_of(request), now), "cm_accept", now);
}

ControlSession::Answer ControlSession::cm_reject(const Json& request, Time now) {
  return ordered(desk().reject(cm_terms_of(request), now), "cm_reject", now);
}

ControlSession::Answer ControlSession::cm_delay(const Json& request, Time now) {
  return ordered(desk().delay(cm_terms_of(request), now), "cm_delay", now);
}

ControlSession::Answer ControlSession::cm_connect(const Json& request, Time now) {
  const std::optional<Gid> gid = port::parse_ip(text(request, "gid"));
  if (!gid) throw Refusal("\"gid\" is no IP address");
  (void)cm_service_of(request);
  const cm::Peer peer{.local = endpoint_.gid(), .remote = *gid};
  return ordered(desk().connect(peer, cm_end_of(request), cm_terms_of(request), now), "cm_connect", now);
}

ControlSession::Answer ControlSession::cm_disconnect(const Json& request, Time now) {
  return ordered(desk().disconnect(qp_of(request), now), "cm_disconnect", now);
}

ControlSession::Answer ControlSession::cm_events(const Json& request, Time) {
  constexpr std::uint64_t most = 4096;
  const auto max = number<std::uint32_t>(request, "max", 1, most, 256);
  Answer events = Answer::array();
  while (events.size() < max) {
    const std::optional<CmReport> report = desk().take_report();
    if (!report) break;
    events.push_back(to_json(*report));
  }
  return {{"events", std::move(events)}};
}

}  // namespace roce::live
