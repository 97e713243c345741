// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on shared receive queues.
#include <cerrno>
#include <utility>

#include "conform/agent/agent_session.h"
#include "conform/agent/verbs_refusal.h"

namespace roce::conform {

using live::number;
using live::Refusal;

ibv_srq& AgentSession::srq_of(const Json& request) const {
  const auto found = objects_.srqs.find(number<ObjectNumber>(request, "srq", 0, UINT32_MAX));
  if (found == objects_.srqs.end()) throw Refusal("\"srq\" was not made by this connection");
  return *found->second;
}

AgentSession::Answer AgentSession::create_srq(const Json& request) {
  constexpr std::uint32_t kMaxQueue = 4096;
  need("srq");
  ibv_srq_init_attr init{};
  init.attr.max_wr = number<std::uint32_t>(request, "max_receive", 1, kMaxQueue, 64);
  init.attr.max_sge = number<std::uint32_t>(request, "max_pieces", 1, 16, 1);
  Srq srq{ibv_create_srq(&pd_of(request), &init)};
  if (!srq) refuse("create_srq", "ibv_create_srq", errno);
  const ObjectNumber id = next_number();
  objects_.srqs.emplace(id, std::move(srq));
  return {{"srq", id}};
}

AgentSession::Answer AgentSession::arm_srq(const Json& request) {
  ibv_srq_attr attributes{};
  attributes.srq_limit = number<std::uint32_t>(request, "limit", 0, UINT32_MAX);
  check("arm_srq", "ibv_modify_srq", ibv_modify_srq(&srq_of(request), &attributes, IBV_SRQ_LIMIT));
  return {};
}

AgentSession::Answer AgentSession::destroy_srq(const Json& request) {
  check("destroy_srq", "ibv_destroy_srq", ibv_destroy_srq(&srq_of(request)));
  const auto found = objects_.srqs.find(number<ObjectNumber>(request, "srq", 0, UINT32_MAX));
  (void)found->second.release();
  objects_.srqs.erase(found);
  return {};
}

}  // namespace roce::conform
