// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// The functions of rdma_cma.h and rdma_verbs.h are all that this library shows to a program; everything else in it is
// compiled as hidden.
#pragma GCC visibility push(default)
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#pragma GCC visibility pop
