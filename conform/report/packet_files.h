// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "conform/report/run_result.h"

namespace roce::conform {

/// Writes the frames of an instance to `folder` as pcapng, named for the instance; each frame's comment is the place of
/// its step, the last one's also what was wrong. Makes the folder if there is none. Error: a sentence.
[[nodiscard]] tl::expected<void, std::string> write_packets(const std::string& folder, const RunResult& result,
                                                            const InstanceRecord& instance);

/// Returns the file that `write_packets` would write. Error: a sentence.
[[nodiscard]] tl::expected<std::string, std::string> packet_file(const RunResult& result,
                                                                 const InstanceRecord& instance);

/// Returns a name for a file that is one on every file system: `psn-gap[n=2]` becomes psn-gap.n-2.pcapng.
[[nodiscard]] std::string packet_file_name(const InstanceRecord& instance);

}  // namespace roce::conform
