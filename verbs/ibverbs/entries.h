// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "verbs/ibverbs/verbs_api.h"

namespace roce::verbs {

// The functions that a program finds in its context instead of by name. Those that return int return 0 or a number of
// errno.h, and set errno to it.

/// Returns the number of completions taken, or -1.
int poll_cq(ibv_cq* cq, int count, ibv_wc* completions);
int request_notify(ibv_cq* cq, int solicited_only);
int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad);
int post_receive(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad);
int post_srq_receive(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad);
/// Fills the first `size` bytes of `attributes`.
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes, std::size_t size);
int query_device(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                 std::size_t size);
/// Finds the type of a GID as sysfs has it: 0 for InfiniBand and RoCE v1, 1 for RoCE v2. Returns 0, or -1 with errno
/// set. It belongs to the private ABI of rdma-core, and ibv_devinfo calls it.
int query_gid_type(ibv_context* context, std::uint8_t port, unsigned index, int* type);
ibv_qp* create_extended_qp(ibv_context* context, ibv_qp_init_attr_ex* init);

}  // namespace roce::verbs
