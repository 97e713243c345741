// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/failure.h"
#include "roce/link/capture_copier.h"

namespace roce::replay {

/// A capture file that is there whole or not at all: until `commit` it stands beside its place as `NAME.partial`, and
/// goes with this object. Standard output and devices are written at once.
class CaptureOutput {
 public:
  /// Failure: `path` is `input`. A name in .pcap or .cap is a pcap file, everything else pcapng; .gz and .zst behind it
  /// compress.
  [[nodiscard]] static Outcome<CaptureOutput> make(const std::string& path, const std::string& input);

  CaptureOutput(CaptureOutput&&) = default;
  CaptureOutput& operator=(CaptureOutput&&) = delete;
  ~CaptureOutput();

  /// Appends a packet; `described` are the interfaces of the file that it comes from.
  [[nodiscard]] Outcome<void> write(const link::CaptureRecord& record,
                                    const std::vector<link::CaptureInterface>& described);
  /// Ends the file and puts it in its place.
  [[nodiscard]] Outcome<void> commit(const std::vector<link::CaptureInterface>& described);

 private:
  CaptureOutput(std::string path, std::string written, link::CaptureWriterOptions options);

  std::string path_;
  std::string written_;
  std::optional<link::CaptureCopier> copier_;
};

}  // namespace roce::replay
