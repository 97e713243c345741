// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/transport/verbs.h"
#include "roce/wire/opcode.h"

namespace roce::conform::fuzz {

inline constexpr unsigned kServiceShift = 5;

/// Returns the service of an opcode, also of one that is not defined.
[[nodiscard]] constexpr Service service_of(Opcode opcode) {
  return static_cast<Service>(static_cast<unsigned>(opcode) >> kServiceShift);
}

/// Returns the service of a QP: RC, UC, or UD.
[[nodiscard]] constexpr Service service_of(transport::QpType type) {
  if (type == transport::QpType::rc) return Service::rc;
  return type == transport::QpType::uc ? Service::uc : Service::ud;
}

/// Returns the opcode of the same operation, and place in a message, of another service.
[[nodiscard]] constexpr Opcode with_service(Opcode opcode, Service service) {
  constexpr unsigned operation = (1U << kServiceShift) - 1;
  return static_cast<Opcode>((static_cast<unsigned>(opcode) & operation) | static_cast<unsigned>(service)
                                                                               << kServiceShift);
}

}  // namespace roce::conform::fuzz
