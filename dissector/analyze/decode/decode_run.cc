// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/decode/decode_run.h"

#include "analyze/input/report.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "analyze/input/frame_info.h"
#include "analyze/input/hex_input.h"
#include "command_line/counted.h"
#include "roce/wire/icrc.h"
#include "roce/wire/super_frame.h"
#include "text/progress.h"

namespace roce::analyze {

namespace {

/// The kind of input. Reading from all but files may block, so decoded packets have to be shown before.
enum class Liveness : std::uint8_t { file, standard_input, pipe };

Liveness liveness(const std::string& path) {
  struct stat status {};
  const bool is_standard_input = path == "-";
  const int result = is_standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (result != 0 || S_ISREG(status.st_mode)) return Liveness::file;
  return is_standard_input ? Liveness::standard_input : Liveness::pipe;
}

bool may_wait(Liveness input) {
  if (input != Liveness::standard_input) return input == Liveness::pipe;
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 0;
}

/// Parses a frame with the link type under which it makes sense: text is often pasted without its Ethernet header.
Packet parse_pasted(Bytes bytes, LinkType& link_type) {
  for (const LinkType type : {LinkType::ethernet, LinkType::raw_ip, LinkType::linux_sll2, LinkType::linux_sll}) {
    const Packet packet = parse_frame(bytes, type);
    if (packet.kind() != PacketKind::other) {
      link_type = type;
      return packet;
    }
  }
  link_type = LinkType::ethernet;
  return parse_frame(bytes, LinkType::ethernet);
}

void report_losses(const std::string& file, const std::vector<link::CaptureInterface>& interfaces) {
  for (const link::CaptureInterface& interface : interfaces) {
    std::string losses;
    const auto add = [&](std::uint64_t count, std::string_view by) {
      if (count == 0) return;
      losses +=
          fmt::format("{}{} {}", losses.empty() ? "" : ", ", command_line::counted(count, "packet", "packets"), by);
    };
    if (interface.statistics) {
      add(interface.statistics->dropped_interface.value_or(0), "by the interface");
      add(interface.statistics->dropped_os.value_or(0), "by the operating system");
    }
    add(interface.packet_drops, "between the packets of the file");
    if (losses.empty()) continue;
    report(fmt::format("{}: warning: the capture is not complete: {}{}lost {}", file,
                       interface.name.empty() ? "" : interface.name, interface.name.empty() ? "" : " ", losses));
  }
}

}  // namespace

/// An open capture file and what is known about its interfaces.
class DecodeRun::Source {
 public:
  Source(std::string path, link::CaptureReader reader)
      : path_(std::move(path)), reader_(std::move(reader)), liveness_(analyze::liveness(path_)) {}

  [[nodiscard]] link::CaptureReader& reader() { return reader_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Liveness liveness() const { return liveness_; }

  [[nodiscard]] packet_text::FrameInfo describe(const link::CaptureRecord& record) const {
    return describe_frame(reader_, record, path_);
  }

 private:
  std::string path_;
  link::CaptureReader reader_;
  Liveness liveness_;
};

DecodeRun::DecodeRun(const DecodeOptions& options, const PacketFilter& filter, packet_text::PacketFormat& format,
                     text::Output& output, bool progress)
    : options_(options), filter_(filter), format_(format), output_(output), progress_(progress) {}

ExitCode DecodeRun::decode_file(const std::string& path) {
  auto reader = link::CaptureReader::open(path);
  if (!reader) {
    output_.flush();
    report(reader.error().message);
    return ExitCode::failed;
  }
  Source source{path, std::move(*reader)};
  decode_records(source);
  output_.flush();
  for (const link::CaptureWarning& warning : source.reader().warnings()) {
    report(fmt::format("warning: {}", warning.message));
  }
  report_losses(path, source.reader().interfaces());
  if (!source.reader().error()) return ExitCode::ok;
  report(source.reader().error()->message);
  return ExitCode::failed;
}

void DecodeRun::decode_records(Source& source) {
  link::CaptureReader& reader = source.reader();
  text::Progress progress{progress_, source.path(), reader.size_bytes()};
  constexpr std::uint64_t kProgressPackets = 1U << 16;
  const Liveness liveness = source.liveness();
  const bool only_bad = options_.only_bad_icrc;
  std::optional<std::int64_t> first_ns;
  std::uint64_t unknown_link = 0;
  std::uint16_t unknown_link_type = 0;
  link::CaptureRecord record;
  for (std::uint64_t count = 0; !output_.is_over(); ++count) {
    if (liveness != Liveness::file && !output_.empty() && may_wait(liveness)) output_.flush();
    if (!reader.next(record)) break;
    if (count % kProgressPackets == kProgressPackets - 1) progress.update(reader.position_bytes(), count);

    const bool has_time = record.timestamp_ns != link::kNoTimestamp;
    if (!first_ns && has_time) first_ns = record.timestamp_ns;
    const std::int64_t relative_ns = has_time ? record.timestamp_ns - *first_ns : 0;
    if (!filter_.passes_time(has_time ? std::optional{record.timestamp_ns} : std::nullopt, relative_ns)) continue;
    const Packet packet = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    if (!filter_.passes_addresses(packet)) continue;
    ++counts_.frames;
    if (packet.is_roce()) {
      const IcrcVerdict icrc = check_icrc(packet);
      if (icrc.status == IcrcStatus::good && only_bad && filter_.passes_transport(packet)) {
        ++counts_.roce;
        ++counts_.good;
        continue;
      }
      packet_text::FrameInfo frame = source.describe(record);
      frame.relative_ns = relative_ns;
      if (has_time) frame.time_ns = record.timestamp_ns;
      decode_roce(packet, icrc, frame);
    } else if (!only_bad && is_shown(packet) && filter_.passes_transport(packet)) {
      packet_text::FrameInfo frame = source.describe(record);
      frame.relative_ns = relative_ns;
      if (has_time) frame.time_ns = record.timestamp_ns;
      emit({frame, packet, packet, {}});
    }
    if (has_unknown_link_type(packet)) {
      ++unknown_link;
      unknown_link_type = record.link_type;
    }
  }
  progress.clear();
  if (unknown_link != 0) {
    report(
        fmt::format("{}: warning: {} of link type {} left out: only Ethernet, Linux cooked and raw "
                    "IP are decoded",
                    source.path(), command_line::counted(unknown_link, "frame", "frames"), unknown_link_type));
  }
}

ExitCode DecodeRun::decode_hex(std::string_view text, const std::string& source) {
  const auto frames = parse_hex_frames(text);
  if (!frames) {
    report(fmt::format("{}: {}", source, frames.error()));
    return ExitCode::failed;
  }
  packet_text::FrameInfo frame;
  frame.file = source;
  for (const std::vector<std::byte>& bytes : *frames) {
    LinkType link_type = LinkType::ethernet;
    const Packet packet = parse_pasted(bytes, link_type);
    ++frame.number;
    frame.length = frame.captured = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = static_cast<std::uint16_t>(link_type);
    if (!filter_.passes_time(std::nullopt, 0) || !filter_.passes_addresses(packet)) continue;
    ++counts_.frames;
    if (packet.is_roce()) {
      decode_roce(packet, check_icrc(packet), frame);
    } else if (!options_.only_bad_icrc && filter_.passes_transport(packet)) {
      // A pasted frame is always shown, whatever it is.
      emit({frame, packet, packet, {}});
    }
  }
  output_.flush();
  return ExitCode::ok;
}

void DecodeRun::decode_roce(const Packet& packet, const IcrcVerdict& icrc, packet_text::FrameInfo& frame) {
  std::optional<SuperFrame> super_frame;
  if (icrc.status != IcrcStatus::good) super_frame = find_super_frame(packet);
  if (!super_frame) return judge({frame, packet, packet, icrc});
  frame.segments = super_frame->count;
  for (std::uint32_t i = 0; i < super_frame->count; ++i) {
    const Packet part = segment(packet, *super_frame, i);
    const IcrcVerdict verdict = check_icrc(part);
    frame.segment = i + 1;
    judge({frame, packet, part, verdict, packet.bth_offset() + i * super_frame->segment_size});
  }
  frame.segment = frame.segments = 0;
}

void DecodeRun::judge(const packet_text::DecodedPacket& decoded) {
  if (!filter_.passes_transport(decoded.packet)) return;
  ++counts_.roce;
  switch (decoded.icrc.status) {
    case IcrcStatus::good:
    case IcrcStatus::good_for_ip_id:
      ++counts_.good;
      break;
    case IcrcStatus::bad:
      ++counts_.bad;
      break;
    case IcrcStatus::not_checked:
      ++counts_.unchecked;
      break;
  }
  if (!options_.only_bad_icrc || decoded.icrc.status == IcrcStatus::bad) emit(decoded);
}

bool DecodeRun::is_shown(const Packet& packet) const {
  if (options_.all || packet.kind() != PacketKind::other) return true;
  // A frame to the port of RoCE that was cut or fragmented in front of the BTH is shown too.
  return packet.problem().layer == HeaderId::bth;
}

void DecodeRun::emit(const packet_text::DecodedPacket& decoded) {
  format_.append_packet(output_.buffer(), decoded);
  output_.commit();
}

}  // namespace roce::analyze
