// SPDX-License-Identifier: BSD-2-Clause
#include "planted_fault.h"

#include <array>

#include "cm/faults.h"
#include "port/faults.h"
#include "transport/faults.h"

namespace roce {

namespace conform {

namespace {

thread_local std::optional<std::size_t> planted;

constexpr std::array kNames{
#define ROCE_FAULT(name, sentence) FaultName{#name, sentence},
#include "cm/faults.inc"
#include "port/faults.inc"
#include "transport/faults.inc"
#undef ROCE_FAULT
};

// Those of the port are behind these, and those of the transport behind both.
constexpr std::array kOfCm{
#define ROCE_FAULT(name, sentence) FaultName{#name, sentence},
#include "cm/faults.inc"
#undef ROCE_FAULT
};
constexpr std::array kOfPort{
#define ROCE_FAULT(name, sentence) FaultName{#name, sentence},
#include "port/faults.inc"
#undef ROCE_FAULT
};

}  // namespace

std::span<const FaultName> fault_names() {
  return kNames;
}

void plant(std::optional<std::size_t> fault) {
  planted = fault;
}

}  // namespace conform

bool transport::detail::fault(Fault which) {
  return conform::planted == conform::kOfCm.size() + conform::kOfPort.size() + static_cast<std::size_t>(which);
}

bool port::detail::fault(Fault which) {
  return conform::planted == conform::kOfCm.size() + static_cast<std::size_t>(which);
}

bool cm::detail::fault(Fault which) {
  return conform::planted == static_cast<std::size_t>(which);
}

}  // namespace roce
