// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "verbs/ibverbs/verbs_api.h"

// Functions that libibverbs exports and declares in headers that no package has: they are about the kernel's files and
// structures.
#pragma GCC visibility push(default)
extern "C" {
void ibv_copy_ah_attr_from_kern(void* to, void* from);
void ibv_copy_path_rec_from_kern(void* to, void* from);
void ibv_copy_path_rec_to_kern(void* to, void* from);
void ibv_copy_qp_attr_from_kern(void* to, void* from);
int ibv_dofork_range(void* base, size_t size);
int ibv_dontfork_range(void* base, size_t size);
const char* ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char* folder, const char* file, char* text, size_t size);
void ibv_register_driver(const char* name, void* init);
}
#pragma GCC visibility pop
