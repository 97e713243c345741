// SPDX-License-Identifier: BSD-2-Clause
#include "capture/capture_output.h"

#include <string_view>
#include <utility>

namespace roce::capture {

namespace {

link::CaptureWriterOptions options_for(std::string_view name) {
  link::CaptureWriterOptions options;
  options.application = "roce-replay";
  options.compression = link::Compression::none;
  for (const auto& [end, compression] : {std::pair{std::string_view{".gz"}, link::Compression::gzip},
                                         std::pair{std::string_view{".zst"}, link::Compression::zstd}}) {
    if (!name.ends_with(end)) continue;
    options.compression = compression;
    name.remove_suffix(end.size());
  }
  if (name.ends_with(".pcap") || name.ends_with(".cap")) options.format = link::CaptureFormat::pcap_ns;
  return options;
}

}  // namespace

CaptureOutput::CaptureOutput(const std::string& path) : copier_(path, options_for(path)) {}

Outcome<void> CaptureOutput::write(const link::CaptureRecord& record,
                                   const std::vector<link::CaptureInterface>& described) {
  const link::Result<void> written = copier_.write(record, described);
  if (!written) return failed(written.error().message);
  return {};
}

Outcome<void> CaptureOutput::commit(const std::vector<link::CaptureInterface>& described) {
  if (const link::Result<void> ended = copier_.end_input(described); !ended) return failed(ended.error().message);
  if (const link::Result<void> finished = copier_.finish(); !finished) return failed(finished.error().message);
  return {};
}

}  // namespace roce::capture
