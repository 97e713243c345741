// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/analysis_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyze/decode_run.h"
#include "analyze/decode_step.h"
#include "analyze/frame_info.h"
#include "analyze/progress.h"
#include "roce/link/capture_reader.h"

namespace roce::analyze {

namespace {

void widen(std::optional<std::int64_t>& first, std::optional<std::int64_t>& last, std::int64_t time) {
  first = std::min(first.value_or(time), time);
  last = std::max(last.value_or(time), time);
}

class Run {
 public:
  Run(const AnalysisRunOptions& options, AnalysisConsumer& consumer)
      : options_(options), consumer_(consumer), tracker_(options.tracker) {}

  void read(const InputFile& input) {
    CaptureFile& file = result_.files.emplace_back();
    file.path = input.path;
    file.frame_base = frames_;
    auto reader = link::CaptureReader::open(input.path);
    if (!reader) {
      fail(file, reader.error().message);
      return;
    }
    file.format = reader->format();
    file.size_bytes = reader->size_bytes();
    Progress progress{options_.progress, file.path, file.size_bytes};
    link::CaptureRecord record;
    while (!consumer_.is_over() && reader->next(record)) {
      file.frames = record.number;
      if (record.number % kProgressFrames == 0) progress.update(reader->position_bytes(), record.number);
      take(record, *reader, file);
    }
    progress.clear();
    frames_ += file.frames;
    hand_over();
    close(*reader, file);
  }

  AnalysisResult finish() && {
    tracker_.finish();
    hand_over();
    result_.streams = tracker_.streams();
    result_.evictions = tracker_.evictions();
    return std::move(result_);
  }

 private:
  static constexpr std::uint64_t kProgressFrames = 1U << 16U;
  static constexpr unsigned kHandOverPackets = 64;

  void take(const link::CaptureRecord& record, const link::CaptureReader& reader, CaptureFile& file) {
    CaptureCounts& counts = result_.counts;
    const bool has_time = record.timestamp_ns != link::kNoTimestamp;
    if (has_time) {
      if (!start_ns_) start_ns_ = record.timestamp_ns;
      widen(file.first_ns, file.last_ns, record.timestamp_ns);
    }
    const std::optional<std::int64_t> time = has_time ? std::optional{record.timestamp_ns} : std::nullopt;
    if (!options_.window.contains(time, start_ns_.value_or(0))) {
      ++counts.outside_window;
      return;
    }
    if (has_time) {
      if (counts.last_ns && record.timestamp_ns < last_ns_) ++counts.clock_backwards;
      last_ns_ = record.timestamp_ns;
      widen(counts.first_ns, counts.last_ns, record.timestamp_ns);
    } else {
      ++counts.without_time;
    }
    const Packet whole = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    ++counts.frames;
    counts.bytes += whole.reported_length();
    if (record.bytes.size() < record.original_length) ++counts.cut_short;
    if (!is_judged(whole)) {
      if (has_unknown_link_type(whole)) {
        ++counts.unknown_link;
        unknown_link_type_ = record.link_type;
      }
      return;
    }
    FrameInfo frame = describe_frame(reader, record, file.path);
    frame.time_ns = time;
    frame.relative_ns = has_time ? record.timestamp_ns - *start_ns_ : 0;
    if (whole.is_roce()) ++counts.roce_frames;
    decode_step(whole, Time{Duration{last_ns_}}, file.frame_base + record.number, [&](const DecodedPart& part) {
      frame.segment = part.segments == 0 ? 0 : part.segment + 1;
      frame.segments = part.segments;
      count(part);
      const analysis::PacketAnalysis& known = tracker_.observe(part.observation);
      const DecodedPacket decoded{frame, whole, part.packet, part.icrc, part.base};
      consumer_.on_packet({decoded, part.observation, known, file});
      for (const analysis::Verdict& verdict : known.verdicts) consumer_.on_verdict(verdict);
      if (++since_hand_over_ == kHandOverPackets) hand_over();
    });
  }

  void count(const DecodedPart& part) {
    CaptureCounts& counts = result_.counts;
    if (!part.packet.is_roce()) {
      ++counts.pause_frames;
      return;
    }
    ++counts.roce_packets;
    if (part.segments != 0 && part.segment == 0) ++counts.super_frames;
    ++counts.versions[static_cast<std::size_t>(part.packet.version())];
    const ParseReason problem = part.packet.problem().reason;
    if (problem != ParseReason::none && problem != ParseReason::cut_short) ++counts.malformed;
    switch (part.icrc.status) {
      case IcrcStatus::good:
      case IcrcStatus::good_for_ip_id:
        ++counts.icrc_good;
        break;
      case IcrcStatus::bad:
        ++counts.icrc_bad;
        break;
      case IcrcStatus::not_checked:
        ++counts.icrc_unchecked[static_cast<std::size_t>(part.icrc.reason)];
        break;
    }
  }

  void hand_over() {
    since_hand_over_ = 0;
    verdicts_.clear();
    tracker_.drain(verdicts_);
    for (const analysis::Verdict& verdict : verdicts_) consumer_.on_verdict(verdict);
    if (options_.tracker.keep_answers) {
      answers_.clear();
      tracker_.drain_answers(answers_);
      for (const analysis::Answer& answer : answers_) consumer_.on_answer(answer);
    }
    if (options_.tracker.keep_messages) {
      messages_.clear();
      tracker_.drain_messages(messages_);
      for (const analysis::Message& message : messages_) consumer_.on_message(message);
    }
  }

  void close(const link::CaptureReader& reader, CaptureFile& file) {
    for (const link::CaptureInterface& interface : reader.interfaces()) {
      file.dropped_between += interface.packet_drops;
      if (!interface.statistics) continue;
      file.dropped_interface += interface.statistics->dropped_interface.value_or(0);
      file.dropped_os += interface.statistics->dropped_os.value_or(0);
    }
    for (const link::CaptureWarning& warning : reader.warnings()) {
      file.problems.push_back(warning.message);
      say(fmt::format("warning: {}", warning.message));
    }
    if (result_.counts.unknown_link != unknown_said_) {
      file.problems.push_back(fmt::format(
          "{} frames of link type {} were not looked at: only Ethernet, Linux cooked and raw IP are decoded",
          result_.counts.unknown_link - unknown_said_, unknown_link_type_));
      say(fmt::format("{}: warning: {}", file.path, file.problems.back()));
      unknown_said_ = result_.counts.unknown_link;
    }
    if (reader.error()) fail(file, reader.error()->message);
  }

  void fail(CaptureFile& file, const std::string& message) {
    file.is_damaged = true;
    file.problems.push_back(message);
    say(message);
  }

  void say(std::string_view text) const {
    if (!options_.quiet) report(text);
  }

  const AnalysisRunOptions& options_;
  AnalysisConsumer& consumer_;
  analysis::Tracker tracker_;
  AnalysisResult result_;
  std::vector<analysis::Verdict> verdicts_;
  std::vector<analysis::Message> messages_;
  std::vector<analysis::Answer> answers_;
  std::optional<std::int64_t> start_ns_;
  std::int64_t last_ns_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t unknown_said_ = 0;
  std::uint16_t unknown_link_type_ = 0;
  unsigned since_hand_over_ = 0;
};

}  // namespace

std::uint64_t CaptureCounts::unchecked() const {
  return std::accumulate(icrc_unchecked.begin(), icrc_unchecked.end(), std::uint64_t{0});
}

bool AnalysisResult::is_complete() const {
  return std::none_of(files.begin(), files.end(), [](const CaptureFile& file) { return file.is_damaged; });
}

AnalysisResult run_analysis(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                            AnalysisConsumer& consumer) {
  Run run{options, consumer};
  for (const InputFile& input : inputs) {
    if (consumer.is_over()) break;
    run.read(input);
  }
  return std::move(run).finish();
}

FramePlace find_frame(std::span<const CaptureFile> files, std::uint64_t overall) {
  const auto behind = std::partition_point(files.begin(), files.end(),
                                           [&](const CaptureFile& file) { return file.frame_base < overall; });
  if (behind == files.begin()) return {};
  const CaptureFile& file = *(behind - 1);
  return {&file, overall - file.frame_base};
}

}  // namespace roce::analyze
