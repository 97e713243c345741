// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/transport/loss_recovery.h"

namespace roce::transport {

/// Parses what an endpoint does about losses beyond the specification: parts with commas between them, such as
/// `held_requests=512,nak_again_after=100us,tail_probe`. Each part is a member of LossRecovery with its value (packets,
/// a whole number of ns, us, ms or s, percent, bytes), or the name alone of one that is on or off. `all` stands for
/// `held_requests=2048,nak_again_after=50us,timer_from_first,adaptive_timeout,tail_probe,selective_repeat,
/// held_responses=2048`, and parts that follow it change that. An empty text is the specification. The error names the
/// part and what was expected.
[[nodiscard]] tl::expected<LossRecovery, std::string> parse_loss_recovery(std::string_view text);

}  // namespace roce::transport
