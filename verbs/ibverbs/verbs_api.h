// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// The functions of verbs.h are all that this library shows to a program; everything else in it is compiled as hidden.
#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

// Macros of verbs.h that stand in front of functions with the same names, which are defined here.
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
