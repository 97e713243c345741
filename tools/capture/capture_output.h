// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/link/capture_copier.h"

namespace roce::capture {

/// A capture file that appears whole or not at all (see link::OutputFile): without `commit`, no file is left.
class CaptureOutput {
 public:
  /// A name in .pcap or .cap makes a pcap file, any other name pcapng; .gz or .zst after that compresses the file.
  explicit CaptureOutput(const std::string& path);

  /// Appends a packet; `described` are the interfaces of the file that the packet comes from.
  [[nodiscard]] Outcome<void> write(const link::CaptureRecord& record,
                                    const std::vector<link::CaptureInterface>& described);
  /// Ends the file and moves it into place.
  [[nodiscard]] Outcome<void> commit(const std::vector<link::CaptureInterface>& described);

 private:
  link::CaptureCopier copier_;
};

}  // namespace roce::capture
