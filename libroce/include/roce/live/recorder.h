// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "roce/link/capture_writer.h"
#include "roce/live/result.h"
#include "roce/port/port.h"

namespace roce::live {

/// Writes the frames that pass a port to a capture file, which gets its name when it is closed (see link::OutputFile).
class Recorder {
 public:
  /// Creates the file. `path` selects pcapng or pcap (`.pcap`), and compression (see link::CaptureWriter).
  [[nodiscard]] static Result<Recorder> create(const std::string& path, const std::string& interface);

  /// Writes a frame, for `port::Port::set_tap`. The first error is kept for `close`.
  void record(port::Direction direction, Bytes frame, std::int64_t timestamp_ns);
  /// Ends the file. Failure: the first error.
  [[nodiscard]] Result<void> close();

 private:
  explicit Recorder(link::CaptureWriter writer) : writer_(std::move(writer)) {}
  link::CaptureWriter writer_;
  std::string error_;
};

}  // namespace roce::live
