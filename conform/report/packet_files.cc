// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/packet_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "roce/link/capture_writer.h"

namespace roce::conform {

namespace {

/// Returns a name that is one on every file system: `psn-gap[n=2]` becomes psn-gap.n-2.
std::string file_name(const Instance& instance) {
  std::string name;
  for (const char c : instance.name()) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
      name += c;
    } else if (c == '[' || c == ',') {
      name += '.';
    } else if (c != ']') {
      name += '-';
    }
  }
  return name;
}

}  // namespace

tl::expected<void, std::string> write_packets(const std::string& folder, const Instance& instance,
                                              const CaseOutcome& outcome) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected(fmt::format("cannot make the folder {}: {}", folder, error.message()));
  const std::string path = fmt::format("{}/{}.pcapng", folder, file_name(instance));
  link::CaptureWriterOptions options;
  options.interface.name = "tester";
  options.application = "roce-conform";
  auto writer = link::CaptureWriter::create(path, options);
  if (!writer) return tl::unexpected(writer.error().message);
  for (const LoggedFrame& frame : outcome.frames) {
    std::string comment = fmt::format("{}:{}", *instance.of->place.file, frame.line);
    if (&frame == &outcome.frames.back() && outcome.failure) comment += ": " + outcome.failure->what;
    constexpr std::uint32_t inbound = 1;
    constexpr std::uint32_t outbound = 2;
    link::CaptureRecord record;
    record.bytes = frame.bytes;
    record.timestamp_ns = frame.time.time_since_epoch().count();
    record.comment = comment;
    record.flags = frame.from_device ? inbound : outbound;
    if (const auto written = writer->write(record); !written) return tl::unexpected(written.error().message);
  }
  if (const auto closed = writer->close(); !closed) return tl::unexpected(closed.error().message);
  return {};
}

}  // namespace roce::conform
