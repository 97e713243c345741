// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "replay/failure.h"
#include "roce/link/capture_copier.h"

namespace roce::replay {

/// A capture file that is there whole or not at all (see link::OutputFile): without `commit` there is none.
class CaptureOutput {
 public:
  /// A name in .pcap or .cap is a pcap file, everything else pcapng; .gz and .zst behind it compress.
  explicit CaptureOutput(const std::string& path);

  /// Appends a packet; `described` are the interfaces of the file that it comes from.
  [[nodiscard]] Outcome<void> write(const link::CaptureRecord& record,
                                    const std::vector<link::CaptureInterface>& described);
  /// Ends the file and puts it in its place.
  [[nodiscard]] Outcome<void> commit(const std::vector<link::CaptureInterface>& described);

 private:
  link::CaptureCopier copier_;
};

}  // namespace roce::replay
