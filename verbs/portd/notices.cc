// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/portd/notices.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "roce/live/random.h"

namespace roce::verbs {

namespace {

template <std::size_t N>
void copy(const std::array<std::byte, N>& from, CmPrivateData& to) {
  static_assert(N <= std::tuple_size_v<decltype(to.bytes)>);
  std::ranges::copy(from, to.bytes.begin());
  to.size = N;
}

/// Writes what the peer proposed, and what comes of it if it is granted.
void describe_request(const cm::Connection& connection, Psn starting_psn, CmNotice& notice) {
  const CmReq& request = connection.request;
  notice.service = request.service_id.value();
  notice.proposal = {.qpn = request.local_qpn.value(),
                     .starting_psn = request.starting_psn.value(),
                     .is_uc = request.transport_service == CmTransportService::uc,
                     .responder_resources = request.responder_resources,
                     .initiator_depth = request.initiator_depth,
                     .flow_control = request.flow_control,
                     .srq = request.srq,
                     .retry_count = request.retry_count,
                     .rnr_retry_count = request.rnr_retry_count,
                     .traffic_class = request.primary_traffic_class};
  cm::Connection granted = connection;
  granted.reply.starting_psn = starting_psn;
  granted.reply.responder_resources = request.initiator_depth;
  granted.reply.initiator_depth = request.responder_resources;
  notice.agreement = granted.agreement();
  copy(request.private_data, notice.private_data);
}

void describe_reply(const cm::Connection& connection, CmNotice& notice) {
  const CmRep& reply = connection.reply;
  notice.proposal = {.qpn = reply.local_qpn.value(),
                     .starting_psn = reply.starting_psn.value(),
                     .responder_resources = reply.responder_resources,
                     .initiator_depth = reply.initiator_depth,
                     .flow_control = reply.flow_control,
                     .srq = reply.srq,
                     .rnr_retry_count = reply.rnr_retry_count};
  notice.agreement = connection.agreement();
  copy(reply.private_data, notice.private_data);
}

}  // namespace

CmNotice notice_of(const cm::Event& event, const cm::Connection* connection) {
  CmNotice notice{.kind = event.kind, .connection = event.connection.value()};
  if (connection != nullptr) notice.remote = connection->peer.remote;
  if (event.kind == cm::EventKind::rejected) {
    notice.status = static_cast<std::uint32_t>(event.rejection.reason);
    copy(event.rejection.private_data, notice.private_data);
  } else if (event.kind == cm::EventKind::resolved) {
    notice.status = static_cast<std::uint32_t>(event.resolution.status);
    notice.proposal.qpn = event.resolution.qpn.value();
    notice.q_key = event.resolution.q_key.value();
    copy(event.resolution.private_data, notice.private_data);
  }
  if (connection == nullptr) return notice;
  if (event.kind == cm::EventKind::request) {
    live::Random random;
    describe_request(*connection, random.psn(), notice);
  } else if (event.kind == cm::EventKind::reply) {
    describe_reply(*connection, notice);
  } else if (event.kind == cm::EventKind::resolve_request) {
    notice.service = connection->sidr_request.service_id.value();
    copy(connection->sidr_request.private_data, notice.private_data);
  }
  return notice;
}

}  // namespace roce::verbs
