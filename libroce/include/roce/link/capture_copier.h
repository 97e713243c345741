// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "roce/link/capture_record.h"
#include "roce/link/capture_writer.h"

namespace roce::link {

/// Writes packets of capture files to another one, with the interfaces that they were captured on. Nothing is created
/// before the first packet or the end.
class CaptureCopier {
 public:
  /// `options.interface` is not used; a pcap file gets the first interface that a packet has.
  CaptureCopier(std::string path, CaptureWriterOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  /// Appends a packet; `described` are the interfaces of the file that it comes from, `record.interface_id` is one of
  /// them. Interfaces are written when their first packet is; one whose packets outgrow its snap length, again.
  Result<void> write(const CaptureRecord& record, const std::vector<CaptureInterface>& described);
  /// The statistics of the interfaces whose packets were written. The next packet comes from another file.
  Result<void> end_input(const std::vector<CaptureInterface>& described);
  /// Ends the file, which is created now if nothing was written.
  Result<void> finish();

 private:
  [[nodiscard]] Result<std::uint32_t> output_interface(const CaptureRecord& record,
                                                       const std::vector<CaptureInterface>& described);
  [[nodiscard]] Result<std::uint32_t> add_interface(const CaptureInterface& interface);

  std::string path_;
  CaptureWriterOptions options_;
  std::optional<CaptureWriter> writer_;
  std::vector<std::optional<std::uint32_t>> interfaces_;  ///< of the file that is read
  std::vector<std::uint32_t> snaplens_;                   ///< of the output's interfaces
};

}  // namespace roce::link
