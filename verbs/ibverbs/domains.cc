// SPDX-License-Identifier: BSD-2-Clause
// Thread domains and parent domains. Objects made in a parent domain are in the protection domain that it has; a thread
// domain promises that one thread uses them, which changes nothing here.
#include <memory>

#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

ibv_td* alloc_thread_domain(ibv_context* context, ibv_td_init_attr* init) {
  return object_of([&]() -> OrErrno<ibv_td*> {
    if (init->comp_mask != 0) return refused(EINVAL);
    return std::make_unique<ibv_td>(ibv_td{context}).release();
  });
}

int free_thread_domain(ibv_td* domain) {
  return status_of([&] {
    delete domain;
    return 0;
  });
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* init) {
  return object_of([&]() -> OrErrno<ibv_pd*> {
    // IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC, which headers have since rdma-core 65: buffers may be
    // memory that a confidential guest does not protect. None need be, since only the processor touches them.
    constexpr std::uint32_t may_be_unprotected = 1U << 2;
    // Allocators of the program are not used: nothing here has memory that hardware shares.
    constexpr std::uint32_t known = unsigned{IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS} |
                                    unsigned{IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT} | may_be_unprotected;
    if ((init->comp_mask & ~known) != 0) return refused(EOPNOTSUPP);
    if (init->pd == nullptr) return refused(EINVAL);
    PdObject& parent = object_of(init->pd);
    if (const int error = error_of_handle(parent); error != 0) return refused(error);
    auto domain = std::make_unique<PdObject>();
    domain->made_by = domain->context = context;
    domain->handle = parent.handle;
    domain->engine = parent.engine;
    domain->handle_of_device = parent.handle_of_device;
    domain->parent = &parent;
    ++parent.users;
    return domain.release();
  });
}

}  // namespace roce::verbs
