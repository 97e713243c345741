// SPDX-License-Identifier: BSD-2-Clause
// The names of the control protocol and the values of verbs.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace roce::conform {

// Each throws live::Refusal for a name that is not known, or that verbs do not have.
[[nodiscard]] ibv_qp_type qp_type_of(std::string_view name);
[[nodiscard]] ibv_wr_opcode opcode_of(std::string_view name);
[[nodiscard]] ibv_qp_state state_of(std::string_view name);
/// Returns the rights that the member `access` of a request lists, IBV_ACCESS_*; 0 if it is missing.
[[nodiscard]] unsigned access_of(const nlohmann::json& request);
/// Returns the value of verbs for a path MTU in bytes.
[[nodiscard]] ibv_mtu path_mtu_of(std::uint32_t bytes);

// Texts as those of libroce's endpoint, so that clients see the same of both.
[[nodiscard]] std::string_view to_text(ibv_qp_state state);
[[nodiscard]] std::string_view to_text(ibv_wc_status status);
/// Returns the text of an operation that has completed; none for one that the control protocol does not have.
[[nodiscard]] std::optional<std::string_view> to_text(ibv_wc_opcode opcode);
/// Returns the text of an event; none for one that the control protocol does not have, such as those of ports.
[[nodiscard]] std::optional<std::string_view> to_text(ibv_event_type event);

}  // namespace roce::conform
