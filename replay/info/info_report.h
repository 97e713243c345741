// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "replay/info/capture_info.h"

namespace roce::replay {

/// Prints the contents of a capture for people, on standard output.
void print_info_text(const std::string& file, const CaptureInfo& info);
/// Prints the same facts as one JSON object.
void print_info_json(const std::string& file, const CaptureInfo& info);

}  // namespace roce::replay
