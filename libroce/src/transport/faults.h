// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::transport::detail {

/// A fault that can be planted in the endpoint, so that a test of RNICs can show that it would be found. The sentences
/// are in faults.inc.
enum class Fault {
#define ROCE_FAULT(name, sentence) name,
#include "transport/faults.inc"
#undef ROCE_FAULT
};

// Each call of `fault` is one of these forms, which tests/conform/fault_sites.py can take out:
//   if (fault(Fault::x) …) statement;      on lines of their own
//   … && !fault(Fault::x)      … || fault(Fault::x)      fault(Fault::x) ? with : without
#ifdef ROCE_FAULTS
/// True if the fault is planted. Only programs that are compiled with ROCE_FAULTS define it.
[[nodiscard]] bool fault(Fault which);
#else
/// There are no faults: nothing of a call is left in the object file.
[[nodiscard]] consteval bool fault(Fault /*which*/) {
  return false;
}
#endif

}  // namespace roce::transport::detail
