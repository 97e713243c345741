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

[[nodiscard]] ibv_qp_type qp_type_of(const rdma_addrinfo* hints, int port_space) {
  if (hints != nullptr && hints->ai_qp_type != 0) return static_cast<ibv_qp_type>(hints->ai_qp_type);
  return port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

/// Sets an address of a result. Returns false without memory.
[[nodiscard]] bool set_address(sockaddr*& to, socklen_t& to_size, const sockaddr* address, socklen_t size) {
  if (address == nullptr || size == 0) return true;
  to = copy_of(address, size);
  to_size = size;
  return to != nullptr;
}

/// Looks a name up, if there is a name or a service, and puts the address into the result. Returns 0, or an error of
/// getaddrinfo.
[[nodiscard]] int look_up(const char* node, const char* service, rdma_addrinfo& made) {
  if (node == nullptr && service == nullptr) return 0;
  const bool is_passive = (made.ai_flags & RAI_PASSIVE) != 0;
  addrinfo wanted{};
  wanted.ai_family = made.ai_family;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = (is_passive ? AI_PASSIVE : 0) | ((made.ai_flags & RAI_NUMERICHOST) != 0 ? AI_NUMERICHOST : 0);
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(node, service, &wanted, &list); error != 0) return error;
  const std::unique_ptr<addrinfo, Freed> found{list};
  const bool is_set = is_passive ? set_address(made.ai_src_addr, made.ai_src_len, list->ai_addr, list->ai_addrlen)
                                 : set_address(made.ai_dst_addr, made.ai_dst_len, list->ai_addr, list->ai_addrlen);
  return is_set ? 0 : EAI_MEMORY;
}

/// Finds out the addresses of an end: by name, and what that does not say from the hints. The result has one entry.
/// Returns 0, or an error of getaddrinfo.
[[nodiscard]] int resolve(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo*& out) {
  std::unique_ptr<rdma_addrinfo, Freed> made{static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo)))};
  if (made == nullptr) return EAI_MEMORY;
  if (hints != nullptr) {
    made->ai_flags = hints->ai_flags;
    made->ai_family = hints->ai_family;
  }
  made->ai_port_space = port_space_of(hints);
  made->ai_qp_type = qp_type_of(hints, made->ai_port_space);
  if (const int error = look_up(node, service, *made); error != 0) return error;
  if (hints != nullptr) {
    if (made->ai_dst_addr == nullptr &&
        !set_address(made->ai_dst_addr, made->ai_dst_len, hints->ai_dst_addr, hints->ai_dst_len)) {
      return EAI_MEMORY;
    }
    if (made->ai_src_addr == nullptr &&
        !set_address(made->ai_src_addr, made->ai_src_len, hints->ai_src_addr, hints->ai_src_len)) {
      return EAI_MEMORY;
    }
  }
  const sockaddr* const known = made->ai_dst_addr != nullptr ? made->ai_dst_addr : made->ai_src_addr;
  if (known != nullptr) made->ai_family = known->sa_family;
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
  return resolve(node, service, hints, *res);
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
