// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/link_cm.h"

#include <utility>

#include "conform/target/agent_answer.h"

namespace roce::conform {

namespace {

using Json = nlohmann::ordered_json;

Json request_of(const CmTerms& terms) {
  return {{"service", terms.service.value()},
          {"responder_resources", terms.responder_resources},
          {"initiator_depth", terms.initiator_depth},
          {"rnr_retry", terms.rnr_retry},
          {"service_timeout", terms.service_timeout},
          {"reason", terms.reason},
          {"info", terms.info},
          {"private_data", terms.private_data}};
}

Json request_of(const CmEnd& end) {
  return {{"qp", end.qpn.value()},
          {"psn", end.setup.rq_psn.value()},
          {"path_mtu", end.setup.path_mtu},
          {"retry_count", end.setup.retry_count},
          {"min_rnr_timer", end.setup.min_rnr_timer}};
}

}  // namespace

void LinkCm::check_type(const CmEnd& end) const {
  if (end.setup.type != transport::QpType::uc || device_.has("cm_uc")) return;
  throw DeviceLacks("a communication manager that can be told to connect QPs of UC");
}

TargetResult<void> LinkCm::order(std::string_view op, Json request) {
  const TargetResult<nlohmann::json> answer = device_.ask(op, std::move(request));
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

TargetResult<void> LinkCm::listen(const CmListener& listener) {
  for (const CmEnd& end : listener.ends) check_type(end);
  Json request = request_of(listener.terms);
  request["waits"] = !listener.answers;
  request["qps"] = Json::array();
  for (const CmEnd& end : listener.ends) request["qps"].push_back(request_of(end));
  return order("cm_listen", std::move(request));
}

TargetResult<void> LinkCm::accept(const CmTerms& terms) {
  return order("cm_accept", request_of(terms));
}

TargetResult<void> LinkCm::reject(const CmTerms& terms) {
  return order("cm_reject", request_of(terms));
}

TargetResult<void> LinkCm::delay(const CmTerms& terms) {
  if (!device_.has("cm_delay")) throw DeviceLacks("a communication manager that can be told to ask for time (MRA)");
  return order("cm_delay", request_of(terms));
}

TargetResult<void> LinkCm::connect(const CmEnd& end, const CmTerms& terms) {
  check_type(end);
  Json request = request_of(terms);
  request.update(request_of(end));
  request["gid"] = to_string(device_.port().tester_gid);
  return order("cm_connect", std::move(request));
}

TargetResult<void> LinkCm::disconnect(const CmEnd& end) {
  return order("cm_disconnect", {{"qp", end.qpn.value()}});
}

std::optional<CmReport> LinkCm::poll_event() {
  const nlohmann::json answer = device_.tell("cm_events", {{"max", 1}});
  const auto events = answer.find("events");
  if (events == answer.end() || !events->is_array()) {
    throw DeviceGone("an answer of the agent to \"cm_events\" has no events");
  }
  if (events->empty()) return std::nullopt;
  const nlohmann::json& event = events->front();
  return CmReport{.kind = answered_text(event, "event"),
                  .reason = answered_number<std::uint16_t>(event, "reason"),
                  .private_data = answered_text(event, "private_data")};
}

}  // namespace roce::conform
