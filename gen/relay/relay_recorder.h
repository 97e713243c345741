// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "command_line/outcome.h"
#include "roce/link/capture_writer.h"
#include "roce/wire/types.h"

namespace roce::gen {

/// Writes the frames that a relay receives and sends to a pcapng file, with the name of each interface. The file gets
/// its name when it is closed (see link::OutputFile).
class RelayRecorder {
 public:
  /// Creates the file; `path` selects the compression (see link::CaptureWriter).
  [[nodiscard]] static Outcome<RelayRecorder> create(const std::string& path,
                                                     const std::array<std::string, 2>& interfaces);

  /// Writes a frame, for `Relay::set_tap`. The first error is kept for `close`.
  void record(std::size_t side, bool sent, Bytes frame, std::int64_t timestamp_ns);
  /// Ends the file. Failure: the first error.
  [[nodiscard]] Outcome<void> close();

 private:
  explicit RelayRecorder(link::CaptureWriter writer) : writer_(std::move(writer)) {}

  link::CaptureWriter writer_;
  std::array<std::uint32_t, 2> ids_{};  // numbers of the interfaces in the file
  std::string error_;
};

}  // namespace roce::gen
