// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::port::detail {

/// A fault that can be planted in the port, as those of transport/faults.h. The sentences are in faults.inc; the forms
/// of a call are those of transport/faults.h.
enum class Fault {
#define ROCE_FAULT(name, sentence) name,
#include "port/faults.inc"
#undef ROCE_FAULT
};

#ifdef ROCE_FAULTS
/// True if the fault is planted. Only programs that are compiled with ROCE_FAULTS define it.
[[nodiscard]] bool fault(Fault which);
#else
/// There are no faults: nothing of a call is left in the object file.
[[nodiscard]] consteval bool fault(Fault /*which*/) {
  return false;
}
#endif

}  // namespace roce::port::detail

namespace roce::port {
using detail::Fault;
using detail::fault;
}  // namespace roce::port
