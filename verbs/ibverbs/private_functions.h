// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>

#include "verbs/ibverbs/entries.h"

// The targets of all symbols in the private nodes of libibverbs.so.1. The generated file that includes this header is
// the only one: an assembler gives a symbol further names only where it is defined.

extern "C" {

/// Stands for functions that a driver calls once it has a device.
__attribute__((used, visibility("hidden"))) int roce_private_refuse() {
  errno = EOPNOTSUPP;
  return EOPNOTSUPP;
}

/// Stands for functions that return an object, of releases whose structures the headers here do not have.
__attribute__((used, visibility("hidden"))) void* roce_private_refuse_object() {
  errno = EOPNOTSUPP;
  return nullptr;
}

/// Stands for functions that return a file descriptor.
__attribute__((used, visibility("hidden"))) int roce_private_refuse_descriptor() {
  errno = EOPNOTSUPP;
  return -1;
}

/// Stands for `verbs_register_driver_NODE`, which drivers call when they are loaded.
__attribute__((used, visibility("hidden"))) void roce_private_ignore() {}

__attribute__((used, visibility("hidden"))) int roce_private_query_gid_type(ibv_context* context, std::uint8_t port,
                                                                            unsigned index, int* type) {
  return roce::verbs::query_gid_type(context, port, index, type);
}

__attribute__((used, visibility("hidden"))) bool roce_private_flag = false;

}  // extern "C"

// Give `target` the name `name` in a node of the ABI; `at` is @, or @@ for the version that programs are linked with.
#define ROCE_NAMED_FUNCTION(name, target, at, node)                                                              \
  asm(".globl roce_" #node "_" #name "\n.set roce_" #node "_" #name ", " #target "\n.type roce_" #node "_" #name \
      ", @function\n.symver roce_" #node "_" #name ", " #name #at #node "\n");
#define ROCE_NAMED_VARIABLE(name, target, at, node)                                                              \
  asm(".globl roce_" #node "_" #name "\n.set roce_" #node "_" #name ", " #target "\n.type roce_" #node "_" #name \
      ", @object\n.size roce_" #node "_" #name ", 1\n.symver roce_" #node "_" #name ", " #name #at #node "\n");
