// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "verbs/ibverbs/objects.h"

namespace roce::verbs {

/// The parameters with which a program asks for a CQ.
struct CqWish {
  std::uint32_t entries = 0;
  void* cq_context = nullptr;
  ibv_comp_channel* channel = nullptr;
  std::int64_t vector = 0;
};

/// Makes a CQ. Errors: EINVAL for more entries than there can be, for none, or for an interrupt vector that is not
/// there.
[[nodiscard]] OrErrno<CqObject*> make_cq(ibv_context* context, const CqWish& wish);
/// Returns the status of a completion as RNICs report it.
[[nodiscard]] ibv_wc_status wc_status_of(const transport::Completion& completion);
/// Returns what kind of work a completion is of, and its flags (IBV_WC_*).
[[nodiscard]] ibv_wc_opcode opcode_of(const transport::Completion& completion);
[[nodiscard]] unsigned flags_of(const transport::Completion& completion);
/// Returns what UCX looks for in the service level of a datagram's completion, as ConnectX has it: RoCE v2, and its IP
/// version. Of other completions, the service level.
[[nodiscard]] std::uint8_t service_level_of(const CqObject& cq, const transport::Completion& completion);
/// Returns the immediate data, or the key that the peer has invalidated, as `ibv_wc` has it.
[[nodiscard]] __be32 immediate_of(const transport::Completion& completion);

}  // namespace roce::verbs
