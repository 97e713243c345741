// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/packet_files.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "roce/link/capture_writer.h"

namespace roce::conform {

namespace {

tl::expected<void, std::string> write_frames(const std::string& path, const RunResult& result,
                                             const InstanceRecord& instance) {
  link::CaptureWriterOptions options;
  options.interface.name = "tester";
  options.application = "roce-conform";
  auto writer = link::CaptureWriter::create(path, options);
  if (!writer) return tl::unexpected(writer.error().message);
  const CaseOutcome& outcome = instance.outcome;
  for (const LoggedFrame& frame : outcome.frames) {
    std::string comment = fmt::format("{}:{}", result.cases.at(instance.of).file, frame.line);
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

}  // namespace

std::string packet_file_name(const InstanceRecord& instance) {
  std::string name;
  for (const char c : instance.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
      name += c;
    } else if (c == '[' || c == ',') {
      name += '.';
    } else if (c != ']') {
      name += '-';
    }
  }
  return name + ".pcapng";
}

tl::expected<void, std::string> write_packets(const std::string& folder, const RunResult& result,
                                              const InstanceRecord& instance) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected(fmt::format("cannot make the folder {}: {}", folder, error.message()));
  return write_frames(fmt::format("{}/{}", folder, packet_file_name(instance)), result, instance);
}

tl::expected<std::string, std::string> packet_file(const RunResult& result, const InstanceRecord& instance) {
  // The writer knows files only.
  const int memory = memfd_create("roce-conform", MFD_CLOEXEC);
  const auto system_error = [] { return tl::unexpected(fmt::format("cannot keep packets: {}", std::strerror(errno))); };
  if (memory < 0) return system_error();
  const auto written = write_frames(fmt::format("/proc/self/fd/{}", memory), result, instance);
  std::string content;
  struct stat state {};
  bool is_read = written && fstat(memory, &state) == 0;
  if (is_read) {
    content.resize(static_cast<std::size_t>(state.st_size));
    is_read = pread(memory, content.data(), content.size(), 0) == state.st_size;
  }
  close(memory);
  if (!written) return tl::unexpected(written.error());
  if (!is_read) return system_error();
  return content;
}

}  // namespace roce::conform
