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
ibv_cq_ex* create_extended_cq(ibv_context* context, ibv_cq_init_attr_ex* init);
ibv_mw* alloc_window(ibv_pd* pd, ibv_mw_type type);
int free_window(ibv_mw* mw);
/// Posts a request that binds a window of type 1, which gets the next key at once.
int bind_window(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
ibv_dm* alloc_device_memory(ibv_context* context, ibv_alloc_dm_attr* wanted);
int free_device_memory(ibv_dm* memory);
ibv_mr* register_device_memory(ibv_pd* pd, ibv_dm* memory, std::uint64_t offset, std::size_t length, unsigned access);
int advise_memory(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* sges, std::uint32_t count);
ibv_td* alloc_thread_domain(ibv_context* context, ibv_td_init_attr* init);
int free_thread_domain(ibv_td* domain);
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* init);
ibv_xrcd* open_xrc_domain(ibv_context* context, ibv_xrcd_init_attr* init);
int close_xrc_domain(ibv_xrcd* xrcd);
ibv_srq* create_extended_srq(ibv_context* context, ibv_srq_init_attr_ex* init);
int get_srq_number(ibv_srq* srq, std::uint32_t* number);
/// Opens an XRC target once more. It ends when all that were opened are destroyed.
ibv_qp* open_target_qp(ibv_context* context, ibv_qp_open_attr* wanted);
/// Reads the clock that the time stamps of completions are of.
int query_clock(ibv_context* context, ibv_values_ex* values);

}  // namespace roce::verbs
