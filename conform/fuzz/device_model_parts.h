// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "conform/fuzz/expectation.h"
#include "roce/wire/constants.h"

// Used by the files of DeviceModel, and by nobody else.
namespace roce::conform::fuzz {

/// PSNs are ahead by less than this, and behind by at most this.
inline constexpr std::int32_t kHalfOfPsns = 1 << 23;

[[nodiscard]] inline Behaviour ignored() {
  return {.name = "ignored"};
}

inline constexpr std::string_view kExecuted = "executed";

/// Returns an acknowledgement with a PSN from `first` to `last`.
[[nodiscard]] inline Answer acknowledgement(Psn first, Psn last, Msn msn) {
  return {.opcode = Opcode::rc_acknowledge, .first = first, .last = last, .msn = msn};
}

/// Returns the statuses that the completion of a receive may have that failed.
[[nodiscard]] inline std::vector<transport::CompletionStatus> failures() {
  using enum transport::CompletionStatus;
  return {flushed,
          local_length_error,
          local_qp_operation_error,
          local_protection_error,
          local_access_error,
          remote_invalid_request,
          remote_access_error,
          remote_operation_error};
}

/// Takes over what each request that is judged changes: the missing packet has come, and the wait for a receive is
/// over.
inline void come(DeviceState& state) {
  state.is_gap_known = false;
  state.is_rnr = false;
}

}  // namespace roce::conform::fuzz
