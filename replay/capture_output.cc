// SPDX-License-Identifier: BSD-2-Clause
#include "replay/capture_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace roce::replay {

namespace {

bool is_direct(const std::string& path) {
  return path == "-" || path.starts_with("/dev/");
}

}  // namespace

CaptureOutput::CaptureOutput(std::string path, std::string written, link::CaptureWriterOptions options)
    : path_(std::move(path)), written_(std::move(written)), copier_(std::in_place, written_, std::move(options)) {}

Outcome<CaptureOutput> CaptureOutput::make(const std::string& path, const std::string& input) {
  std::error_code ignored;
  if (std::filesystem::equivalent(path, input, ignored) && !is_direct(path)) {
    return cannot(fmt::format("cannot write '{}': it is the file that is read; choose another name", path));
  }
  link::CaptureWriterOptions options;
  options.application = "roce-replay";
  options.compression = link::Compression::none;
  std::string_view name = path;
  for (const auto& [end, compression] : {std::pair{std::string_view{".gz"}, link::Compression::gzip},
                                         std::pair{std::string_view{".zst"}, link::Compression::zstd}}) {
    if (!name.ends_with(end)) continue;
    options.compression = compression;
    name.remove_suffix(end.size());
  }
  if (name.ends_with(".pcap") || name.ends_with(".cap")) options.format = link::CaptureFormat::pcap_ns;
  return CaptureOutput{path, is_direct(path) ? path : path + ".partial", std::move(options)};
}

CaptureOutput::~CaptureOutput() {
  if (!copier_ || is_direct(written_)) return;
  copier_.reset();
  std::error_code ignored;
  std::filesystem::remove(written_, ignored);
}

Outcome<void> CaptureOutput::write(const link::CaptureRecord& record,
                                   const std::vector<link::CaptureInterface>& described) {
  const link::Result<void> written = copier_->write(record, described);
  if (!written) return failed(written.error().message);
  return {};
}

Outcome<void> CaptureOutput::commit(const std::vector<link::CaptureInterface>& described) {
  if (const link::Result<void> ended = copier_->end_input(described); !ended) return failed(ended.error().message);
  if (const link::Result<void> finished = copier_->finish(); !finished) return failed(finished.error().message);
  if (!is_direct(written_)) {
    std::error_code error;
    std::filesystem::rename(written_, path_, error);
    if (error) return failed(fmt::format("cannot rename '{}' to '{}': {}", written_, path_, error.message()));
  }
  copier_.reset();
  return {};
}

}  // namespace roce::replay
