// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "verbs/ibverbs/verbs_api.h"

// Functions of libibverbs that came after rdma-core 44, declared as their manual pages have them. Newer headers declare
// them too.
#pragma GCC visibility push(default)
extern "C" {
struct ibv_buf;
int ibv_query_port_speed(struct ibv_context* context, uint32_t port, uint64_t* speed);
void* ibv_alloc_buf(struct ibv_pd* pd, size_t size, struct ibv_buf** buffer);
void ibv_free_buf(struct ibv_buf* buffer);
struct ibv_mr* ibv_reg_buf_mr(struct ibv_pd* pd, struct ibv_buf* buffer, void* address, size_t length, int access);
int ibv_export_buf_dmabuf_fd(struct ibv_buf* buffer);
}
#pragma GCC visibility pop
