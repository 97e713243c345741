// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/recorder.h"

namespace roce::live {

namespace {

// pcapng, 4.3.1: direction of a packet.
constexpr std::uint32_t kInbound = 1;
constexpr std::uint32_t kOutbound = 2;

}  // namespace

Result<Recorder> Recorder::create(const std::string& path, const std::string& interface) {
  link::CaptureWriterOptions options;
  options.interface.name = interface;
  options.application = "roce-gen";
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.find(".pcap") != std::string::npos && name.find(".pcapng") == std::string::npos) {
    options.format = link::CaptureFormat::pcap_ns;
  }
  link::Result<link::CaptureWriter> writer = link::CaptureWriter::create(path, options);
  if (!writer) return cannot(writer.error().message);
  return Recorder{std::move(*writer)};
}

void Recorder::record(port::Direction direction, Bytes frame, std::int64_t timestamp_ns) {
  link::CaptureRecord record;
  record.bytes = frame;
  record.timestamp_ns = timestamp_ns;
  record.original_length = static_cast<std::uint32_t>(frame.size());
  record.flags = direction == port::Direction::received ? kInbound : kOutbound;
  if (const link::Result<void> written = writer_.write(record); !written && error_.empty()) {
    error_ = written.error().message;
  }
}

Result<void> Recorder::close() {
  if (const link::Result<void> closed = writer_.close(); !closed && error_.empty()) error_ = closed.error().message;
  if (!error_.empty()) return failed(error_);
  return {};
}

}  // namespace roce::live
