// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "conform/language/instance.h"
#include "conform/run/outcome.h"

namespace roce::conform {

/// Writes the frames of an instance to `folder` as pcapng, named for the instance; each frame's comment is the place of
/// its step, the last one's also what was wrong. Makes the folder if there is none. Error: a sentence.
[[nodiscard]] tl::expected<void, std::string> write_packets(const std::string& folder, const Instance& instance,
                                                            const CaseOutcome& outcome);

}  // namespace roce::conform
