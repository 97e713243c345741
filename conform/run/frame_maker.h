// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conform/language/case.h"
#include "conform/run/cm_talk.h"
#include "conform/target/target.h"
#include "roce/wire/packet_spec.h"

namespace roce::conform {

/// The QP that a frame is for, and what a frame that says nothing else has.
struct FrameDefaults {
  transport::QpType type = transport::QpType::rc;
  Qpn dest_qp{};
  Psn psn{};
  Qpn source_qp{};  ///< of a datagram
  QKey q_key{};     ///< of a datagram
  std::uint32_t path_mtu = 0;
  Region region{};             ///< the one that RETH and AtomicETH point to
  std::optional<CmTalk> cm{};  ///< on QP1
};

/// Builds the frame that a case describes: the legal one of its opcode to the QP, with the fields that the case sets.
/// A FIRST and a MIDDLE carry as much as the path MTU, the others 4 bytes; a RETH names the length of the payload.
[[nodiscard]] CaseResult<std::vector<std::byte>> make_frame(const FrameSpec& frame, const FrameDefaults& defaults,
                                                            const Port& port, const Scope& scope);

/// Returns the name in the field table of a member of the network header of a version: `src`, `dst`, `dscp`, `ecn`,
/// `ttl`.
[[nodiscard]] std::string network_field(RoceVersion version, std::string_view member);

/// Returns the opcode of a name without its service for a QP of a type: `SEND_ONLY` is RC_SEND_ONLY or UC_SEND_ONLY; a
/// full name is that opcode. Empty if there is none.
[[nodiscard]] std::optional<Opcode> opcode_for(std::string_view name, transport::QpType type);

}  // namespace roce::conform
