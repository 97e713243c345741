// SPDX-License-Identifier: BSD-2-Clause
#include "gen/relay/relay_recorder.h"

#include <chrono>

namespace roce::gen {

namespace {

// pcapng, 4.3.1: direction of a packet.
constexpr std::uint32_t kInbound = 1;
constexpr std::uint32_t kOutbound = 2;

}  // namespace

Outcome<RelayRecorder> RelayRecorder::create(const std::string& path, const std::array<std::string, 2>& interfaces) {
  link::CaptureWriterOptions options;
  options.interface.name = interfaces[0];
  options.application = "roce-gen relay";
  link::Result<link::CaptureWriter> writer = link::CaptureWriter::create(path, options);
  if (!writer) return cannot(writer.error().message);
  options.interface.name = interfaces[1];
  const link::Result<std::uint32_t> other = writer->add_interface(options.interface);
  if (!other) return cannot(other.error().message);
  RelayRecorder recorder{std::move(*writer)};
  recorder.ids_[1] = *other;
  return recorder;
}

void RelayRecorder::record(std::size_t side, bool sent, Bytes frame, std::int64_t timestamp_ns) {
  if (timestamp_ns == 0) {
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    timestamp_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  }
  link::CaptureRecord record;
  record.bytes = frame;
  record.timestamp_ns = timestamp_ns;
  record.original_length = static_cast<std::uint32_t>(frame.size());
  record.interface_id = ids_[side];
  record.flags = sent ? kOutbound : kInbound;
  if (const link::Result<void> written = writer_.write(record); !written && error_.empty()) {
    error_ = written.error().message;
  }
}

Outcome<void> RelayRecorder::close() {
  if (const link::Result<void> closed = writer_.close(); !closed && error_.empty()) error_ = closed.error().message;
  if (!error_.empty()) return failed(error_);
  return {};
}

}  // namespace roce::gen
