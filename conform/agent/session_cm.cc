// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on the communication manager.
#include "conform/agent/agent_session.h"
#include "roce/live/control_terms.h"
#include "roce/port/address_text.h"

namespace roce::conform {

using live::flag;
using live::number;
using live::Refusal;
using live::text;

AgentCm& AgentSession::cm() {
  need("cm");
  if (cm_ == nullptr) cm_ = std::make_unique<AgentCm>(device_, objects_.qps);
  return *cm_;
}

AgentCm::End AgentSession::cm_end_of(const Json& request) {
  constexpr std::uint8_t longest_code = 31;
  return {.qpn = qp_of(request).qp->qp_num,
          .retry_count = number<std::uint8_t>(request, "retry_count", 0, 7, 7),
          .min_rnr_timer = number<std::uint8_t>(request, "min_rnr_timer", 0, longest_code, 12)};
}

AgentSession::Answer AgentSession::cm_listen(const Json& request) {
  (void)live::cm_service_of(request);
  std::vector<AgentCm::End> ends;
  for (const Json& qp : live::list(request, "qps")) {
    if (!qp.is_object()) throw Refusal("\"qps\" needs a list of objects, each with \"qp\"");
    ends.push_back(cm_end_of(qp));
  }
  cm().listen(live::cm_terms_of(request), std::move(ends), !flag(request, "waits"));
  return {};
}

AgentSession::Answer AgentSession::cm_accept(const Json& request) {
  cm().accept(live::cm_terms_of(request));
  return {};
}

AgentSession::Answer AgentSession::cm_reject(const Json& request) {
  cm().reject(live::cm_terms_of(request));
  return {};
}

AgentSession::Answer AgentSession::cm_delay(const Json&) {
  throw Refusal("programs of librdmacm cannot send an MRA; the device lacks the feature \"cm_delay\"");
}

AgentSession::Answer AgentSession::cm_connect(const Json& request) {
  const std::optional<Gid> gid = port::parse_ip(text(request, "gid"));
  if (!gid) throw Refusal("\"gid\" is no IP address");
  (void)live::cm_service_of(request);
  cm().connect(*gid, cm_end_of(request), live::cm_terms_of(request));
  return {};
}

AgentSession::Answer AgentSession::cm_disconnect(const Json& request) {
  cm().disconnect(qp_of(request).qp->qp_num);
  return {};
}

AgentSession::Answer AgentSession::cm_events(const Json& request) {
  constexpr std::uint64_t most = 4096;
  const auto max = number<std::uint32_t>(request, "max", 1, most, 256);
  cm().take_events();
  Answer events = Answer::array();
  while (events.size() < max) {
    const std::optional<live::CmReport> report = cm().take_report();
    if (!report) break;
    events.push_back(to_json(*report));
  }
  return {{"events", std::move(events)}};
}

}  // namespace roce::conform
