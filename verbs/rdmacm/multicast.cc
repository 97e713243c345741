// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups of identifiers: the process joins them itself, without the manager.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/rdmacm/address.h"
#include "verbs/rdmacm/objects.h"
#include "verbs/rdmacm/outcome.h"

namespace roce::verbs {

namespace {

constexpr std::uint32_t kMulticastQpn = 0xFF'FFFF;  // IBTA vol. 1, 10.5

[[nodiscard]] ibv_gid write(const Gid& group) {
  ibv_gid out{};
  std::memcpy(out.raw, group.octets.data(), sizeof out.raw);
  return out;
}

/// Attaches a QP to a group, or detaches it. Returns a number of errno.h.
[[nodiscard]] int attach(ibv_qp* qp, const Gid& group) {
  const ibv_gid gid = write(group);
  return ibv_attach_mcast(qp, &gid, 0);
}
void detach(ibv_qp* qp, const Gid& group) {
  const ibv_gid gid = write(group);
  (void)ibv_detach_mcast(qp, &gid, 0);
}

/// Joins a group, and attaches the QP of the identifier to it, if it receives. Returns a number of errno.h.
[[nodiscard]] int join(IdObject& id, const sockaddr& address, void* context, bool receives) {
  const std::optional<Gid> group = gid_of(address);
  if (!group || !is_group(*group)) return EINVAL;
  if (id.device == nullptr || id.qp_type != IBV_QPT_UD) return EINVAL;
  if (group->is_ipv4_mapped() != id.device->address.is_ipv4_mapped()) return EINVAL;
  JoinedGroup joined{.address = *group, .receives = receives};
  if (receives && id.qp != nullptr) {
    if (const int error = attach(id.qp, *group); error != 0) return error;
    joined.attached = id.qp;
  }
  {
    const std::scoped_lock lock{shared().mutex};
    id.groups.push_back(joined);
  }
  // Events of groups have the program's pointer in the place of private data (librdmacm).
  rdma_ud_param parameters = parameters_towards(id, *group, kMulticastQpn, RDMA_UDP_QKEY);
  parameters.private_data = context;
  report(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0, parameters);
  return complete(id);
}

}  // namespace

int attach_to_groups(IdObject& id) {
  const std::scoped_lock lock{shared().mutex};
  for (JoinedGroup& group : id.groups) {
    if (!group.receives) continue;
    if (const int error = attach(id.qp, group.address); error != 0) return error;
    group.attached = id.qp;
  }
  return 0;
}

void detach_from_groups(IdObject& id) {
  const std::scoped_lock lock{shared().mutex};
  for (JoinedGroup& group : id.groups) {
    if (id.qp != nullptr && group.attached == id.qp) detach(id.qp, group.address);
    group.attached = nullptr;
  }
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

int rdma_join_multicast(struct rdma_cm_id* id, struct sockaddr* addr, void* context) {
  return outcome_of([&] { return addr == nullptr ? EINVAL : join(object_of(id), *addr, context, true); });
}

int rdma_join_multicast_ex(struct rdma_cm_id* id, struct rdma_cm_join_mc_attr_ex* mc_join_attr, void* context) {
  return outcome_of([&] {
    constexpr std::uint32_t needed = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    if (mc_join_attr == nullptr || mc_join_attr->comp_mask != needed || mc_join_attr->addr == nullptr) return EINVAL;
    const std::uint32_t flags = mc_join_attr->join_flags;
    if (flags >= RDMA_MC_JOIN_FLAG_RESERVED) return EINVAL;
    return join(object_of(id), *mc_join_attr->addr, context, flags == RDMA_MC_JOIN_FLAG_FULLMEMBER);
  });
}

int rdma_leave_multicast(struct rdma_cm_id* id, struct sockaddr* addr) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    const std::optional<Gid> group = addr != nullptr ? gid_of(*addr) : std::nullopt;
    if (!group) return EINVAL;
    const std::scoped_lock lock{shared().mutex};
    const auto joined = std::ranges::find(object.groups, *group, &JoinedGroup::address);
    if (joined == object.groups.end()) return EADDRNOTAVAIL;
    // A QP that the program has detached and destroyed itself is not there.
    if (id->qp != nullptr && joined->attached == id->qp) detach(id->qp, *group);
    object.groups.erase(joined);
    return 0;
  });
}
