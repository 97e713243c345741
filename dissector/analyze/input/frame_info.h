// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "packet_text/decoded_packet.h"
#include "roce/link/capture_reader.h"

namespace roce::analyze {

/// Returns what a file has about one of its frames, except for the times. The texts are valid until the reader's next
/// record, the name of the file as long as `file`.
[[nodiscard]] packet_text::FrameInfo describe_frame(const link::CaptureReader& reader,
                                                    const link::CaptureRecord& record, std::string_view file);

/// True if a frame could not be parsed at all because its link type is not known.
[[nodiscard]] bool has_unknown_link_type(const Packet& packet);

}  // namespace roce::analyze
