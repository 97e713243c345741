// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/send_file.h"

#include "roce/link/capture_writer.h"
#include "runtime/saturating_time.h"

namespace roce::replay {

namespace {

// pcapng, 4.3.1: direction of a packet.
constexpr std::uint32_t kOutbound = 2;

[[nodiscard]] link::CaptureFormat format_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool is_pcap = name.find(".pcap") != std::string::npos && name.find(".pcapng") == std::string::npos;
  return is_pcap ? link::CaptureFormat::pcap_ns : link::CaptureFormat::pcapng;
}

}  // namespace

Outcome<SendTotals> write_frames(FrameFeed& feed, const Pace& pace, const std::string& path, std::int64_t start_ns) {
  link::CaptureWriterOptions options;
  options.application = "roce-replay";
  options.format = format_of(path);
  link::Result<link::CaptureWriter> writer = link::CaptureWriter::create(path, options);
  if (!writer) return cannot(writer.error().message);
  Pacing pacing{pace};
  SendTotals totals;
  link::CaptureRecord record;
  record.flags = kOutbound;
  while (true) {
    const Outcome<FrameBlock*> block = feed.next();
    if (!block) return tl::unexpected(block.error());
    if (*block == nullptr) break;
    for (const ReplayFrame& frame : (*block)->frames) {
      totals.time = pacing.next(frame.captured, frame.size);
      record.timestamp_ns = later_by(Time{Duration{start_ns}}, totals.time).time_since_epoch().count();
      record.bytes = (*block)->bytes_of(frame);
      record.original_length = frame.size;
      if (const auto written = writer->write(record); !written) return failed(written.error().message);
      ++totals.frames[frame.side];
      totals.bytes[frame.side] += frame.size;
    }
  }
  if (const auto closed = writer->close(); !closed) return failed(closed.error().message);
  return totals;
}

}  // namespace roce::replay
