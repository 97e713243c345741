// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "roce/wire/packet.h"

namespace roce::test {

/// One frame of a made capture.
struct MadeFrame {
  std::vector<std::byte> bytes;
  std::string comment;  ///< description, stored in the capture as the packet's comment
  LinkType link_type = LinkType::ethernet;
  bool icrc_is_good = true;  ///< for each RoCE packet in it
};

/// One capture file of captures/made.
struct MadeCapture {
  std::string name;  ///< without folder and suffix
  std::vector<MadeFrame> frames;
};

/// Returns all captures of captures/made, identical on each call.
[[nodiscard]] std::vector<MadeCapture> made_captures();

/// Writes a capture as pcapng to `path`. Returns what went wrong, or nothing.
[[nodiscard]] std::string write_capture(const MadeCapture& capture, const std::string& path);

}  // namespace roce::test
