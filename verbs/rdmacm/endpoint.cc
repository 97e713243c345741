// SPDX-License-Identifier: BSD-2-Clause
// Endpoints: an identifier with its address, route and QP in one call, and addresses by name.
#include <netdb.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "verbs/rdmacm/address.h"
#include "verbs/rdmacm/objects.h"
#include "verbs/rdmacm/outcome.h"

namespace roce::verbs {

namespace {

[[nodiscard]] int prepare_active(IdObject& id, const rdma_addrinfo& info, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  constexpr int patience = 2000;  // milliseconds
  if (rdma_resolve_addr(&id, info.ai_src_addr, info.ai_dst_addr, patience) != 0 ||
      rdma_resolve_route(&id, patience) != 0) {
    return errno;
  }
  if (attributes == nullptr) return 0;
  attributes->qp_type = id.qp_type;
  return rdma_create_qp(&id, pd, attributes) == 0 ? 0 : errno;
}

[[nodiscard]] int prepare_passive(IdObject& id, const rdma_addrinfo& info, ibv_pd* pd,
                                  const ibv_qp_init_attr* attributes) {
  if (info.ai_src_addr == nullptr) return EINVAL;
  if (const int error = bind(id, *info.ai_src_addr); error != 0) return error;
  if (pd != nullptr) id.pd = pd;
  if (attributes != nullptr) id.qp_of_requests = *attributes;
  return 0;
}

/// Takes the request that came to a passive endpoint. Returns a number of errno.h.
[[nodiscard]] int take_request(IdObject& listener, rdma_cm_id*& taken) {
  if (!listener.is_synchronous) return EINVAL;
  if (const int error = complete(listener); error != 0) return error;
  if (listener.event->event != RDMA_CM_EVENT_CONNECT_REQUEST) return EINVAL;
  IdObject& id = object_of(listener.event->id);
  id.event = listener.event;
  listener.event = nullptr;
  int error = rdma_migrate_id(&id, nullptr) == 0 ? 0 : errno;
  if (error == 0 && listener.qp_of_requests) {
    ibv_qp_init_attr attributes = *listener.qp_of_requests;
    attributes.qp_type = id.qp_type;
    error = rdma_create_qp(&id, listener.pd, &attributes) == 0 ? 0 : errno;
  }
  if (error == 0) {
    taken = &id;
    return 0;
  }
  (void)rdma_reject(&id, nullptr, 0);
  (void)rdma_destroy_id(&id);
  return error;
}

struct Freed {
  void operator()(addrinfo* info) const { ::freeaddrinfo(info); }
  void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
};

[[nodiscard]] sockaddr* copy_of(const sockaddr* address, socklen_t size) {
  auto* const copy = static_cast<sockaddr*>(std::malloc(size));
  if (copy != nullptr) std::memcpy(copy, address, size);
  return copy;
}

[[nodiscard]] int port_space_of(const rdma_addrinfo* hints) {
  if (hints != nullptr && hints->ai_port_space != 0) return hints->ai_port_space;
  return hints != nullptr && hints->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

/// Looks a name up; the result has one entry. Returns 0, or an error of getaddrinfo.
[[nodiscard]] int look_up(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo*& out) {
  const int flags = hints != nullptr ? hints->ai_flags : 0;
  const bool is_passive = (flags & RAI_PASSIVE) != 0;
  addrinfo wanted{};
  wanted.ai_family = (hints != nullptr && hints->ai_family != 0) ? hints->ai_family : AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = (is_passive ? AI_PASSIVE : 0) | ((flags & RAI_NUMERICHOST) != 0 ? AI_NUMERICHOST : 0);
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(node, service, &wanted, &list); error != 0) return error;
  const std::unique_ptr<addrinfo, Freed> found{list};
  std::unique_ptr<rdma_addrinfo, Freed> made{static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo)))};
  if (made == nullptr) return EAI_MEMORY;
  made->ai_flags = flags;
  made->ai_family = list->ai_family;
  made->ai_port_space = port_space_of(hints);
  made->ai_qp_type = (hints != nullptr && hints->ai_qp_type != 0)
                         ? hints->ai_qp_type
                         : (made->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC);
  sockaddr*& address = is_passive ? made->ai_src_addr : made->ai_dst_addr;
  (is_passive ? made->ai_src_len : made->ai_dst_len) = list->ai_addrlen;
  address = copy_of(list->ai_addr, list->ai_addrlen);
  if (address == nullptr) return EAI_MEMORY;
  if (!is_passive && hints != nullptr && hints->ai_src_addr != nullptr && hints->ai_src_len != 0) {
    made->ai_src_addr = copy_of(hints->ai_src_addr, hints->ai_src_len);
    made->ai_src_len = hints->ai_src_len;
    if (made->ai_src_addr == nullptr) return EAI_MEMORY;
  }
  out = made.release();
  return 0;
}

}  // namespace

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

int rdma_create_ep(struct rdma_cm_id** id, struct rdma_addrinfo* res, struct ibv_pd* pd,
                   struct ibv_qp_init_attr* qp_init_attr) {
  return outcome_of([&] {
    if (id == nullptr || res == nullptr) return EINVAL;
    if (res->ai_port_space != RDMA_PS_TCP && res->ai_port_space != RDMA_PS_UDP) return EPROTONOSUPPORT;
    IdObject* const made = make_id(nullptr, nullptr, static_cast<rdma_port_space>(res->ai_port_space),
                                   static_cast<ibv_qp_type>(res->ai_qp_type));
    if (made == nullptr) return errno;
    const int error = (res->ai_flags & RAI_PASSIVE) != 0 ? prepare_passive(*made, *res, pd, qp_init_attr)
                                                         : prepare_active(*made, *res, pd, qp_init_attr);
    if (error != 0) {
      rdma_destroy_ep(made);
      return error;
    }
    *id = made;
    return 0;
  });
}

void rdma_destroy_ep(struct rdma_cm_id* id) {
  if (id->qp != nullptr) rdma_destroy_qp(id);
  if (id->srq != nullptr) rdma_destroy_srq(id);
  (void)rdma_destroy_id(id);
}

int rdma_get_request(struct rdma_cm_id* listen, struct rdma_cm_id** id) {
  return outcome_of([&] { return take_request(object_of(listen), *id); });
}

int rdma_getaddrinfo(const char* node, const char* service, const struct rdma_addrinfo* hints,
                     struct rdma_addrinfo** res) {
  if (res == nullptr || (node == nullptr && service == nullptr && hints == nullptr)) {
    errno = EINVAL;
    return -1;
  }
  return look_up(node, service, hints, *res);
}

void rdma_freeaddrinfo(struct rdma_addrinfo* res) {
  while (res != nullptr) {
    rdma_addrinfo* const next = res->ai_next;
    std::free(res->ai_src_addr);
    std::free(res->ai_dst_addr);
    std::free(res);
    res = next;
  }
}
