// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "roce/link/capture_record.h"
#include "roce/link/capture_writer.h"

namespace roce::link {

/// Copies packets of capture files into another file, with the interfaces that they were captured on.
/// Creates nothing before the first packet or the end.
class CaptureCopier {
 public:
  /// `options.interface` is not used; a pcap file gets the first interface that a packet has.
  CaptureCopier(std::string path, CaptureWriterOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  /// Appends a packet; `described` are the interfaces of the input file, and `record.interface_id` is one of them.
  /// Writes an interface with its first packet, and again if a later packet exceeds its snap length.
  Result<void> write(const CaptureRecord& record, const std::vector<CaptureInterface>& described);
  /// Writes the statistics of the interfaces whose packets were written. The next packet is from another input file.
  Result<void> end_input(const std::vector<CaptureInterface>& described);
  /// Ends the file, and creates it now if nothing was written.
  Result<void> finish();

 private:
  [[nodiscard]] Result<std::uint32_t> output_interface(const CaptureRecord& record,
                                                       const std::vector<CaptureInterface>& described);
  [[nodiscard]] Result<std::uint32_t> add_interface(const CaptureInterface& interface);

  std::string path_;
  CaptureWriterOptions options_;
  std::optional<CaptureWriter> writer_;
  std::vector<std::optional<std::uint32_t>> interfaces_;  ///< output interfaces, by interface of the input file
  std::vector<std::uint32_t> snaplens_;                   ///< snap lengths of the output's interfaces
};

}  // namespace roce::link
