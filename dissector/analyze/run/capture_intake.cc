// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/capture_intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/input/following.h"
#include "analyze/input/report.h"
#include "analyze/run/carried_state.h"
#include "command_line/counted.h"
#include "text/human_units.h"

namespace roce::analyze {

CaptureIntake::CaptureIntake(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                             AnalysisResult& result)
    : inputs_(inputs), options_(options), result_(result) {}

bool CaptureIntake::next() {
  if (options_.most_frames != 0 && admitted_ == options_.most_frames) {
    stop_at_limit();
    return false;
  }
  while (reader_ != nullptr || open_next()) {
    CaptureFile& file = this->file();
    while (reader_->next(record_)) {
      file.frames = record_.number;
      if (record_.number % kProgressFrames == 0) progress_->update(reader_->position_bytes(), record_.number);
      if (!admit()) {
        if (options_.follow == nullptr) continue;
        options_.follow->after_frame();
        if (options_.follow->is_stopped()) return false;
        continue;
      }
      ++admitted_;
      return true;
    }
    bytes_ += file.size_bytes;
    close();
  }
  return false;
}

void CaptureIntake::stop_at_limit() {
  CaptureSample sample{admitted_, bytes_, 0};
  bool has_more = opened_ < inputs_.size();
  if (reader_ != nullptr) {
    sample.bytes += reader_->position_bytes();
    has_more = reader_->next(record_) || has_more;
  }
  for (const InputFile& input : inputs_) {
    if (!input.is_regular) {
      sample.of_bytes = 0;
      break;
    }
    sample.of_bytes += input.size_bytes;
  }
  if (has_more) result_.sample = sample;
  stop();
}

void CaptureIntake::stop() {
  if (reader_ != nullptr) close();
  opened_ = inputs_.size();
}

void CaptureIntake::go_on_from(const CarriedState& state) {
  result_.files = state.files;
  result_.earlier_files = state.files.size();
  result_.files_left_out = state.files_left_out;
  result_.counts = state.counts;
  points_ = CapturePoints{state.points, state.file_sets};
  frames_ = state.frames;
  start_ns_ = state.start_ns;
  last_ns_ = state.last_ns;
}

void CaptureIntake::carry_into(CarriedState& state) {
  if (reader_ != nullptr) count_drops();
  const std::size_t left_out = result_.files.size() - std::min(result_.files.size(), CarriedState::kFiles);
  state.files.assign(result_.files.begin() + static_cast<std::ptrdiff_t>(left_out), result_.files.end());
  state.files_left_out = result_.files_left_out + left_out;
  state.counts = result_.counts;
  state.points = points_.points();
  state.file_sets = points_.sets();
  state.frames = frames_;
  state.start_ns = start_ns_;
  state.last_ns = last_ns_;
}

void CaptureIntake::finish() {
  if (options_.follow != nullptr && !result_.files.empty()) {
    for (const std::string& problem : options_.follow->problems()) fail(problem);
  }
  result_.points = points_.points();
  result_.start_ns = start_ns_;
  result_.counts.clock_backwards = 0;
  for (const CapturePoint& point : result_.points) {
    result_.counts.clock_backwards += point.backwards;
    if (point.farthest_back < kClockJump) continue;
    result_.has_bad_clock = true;
    say(fmt::format("{}: the clock of this capture point went back by up to {}, at {}: durations may be wrong",
                    point.name, text::duration_text(point.farthest_back),
                    command_line::counted(point.backwards, "frame", "frames")));
  }
  for (std::size_t i = result_.earlier_files; i < result_.files.size(); ++i) {
    CaptureFile& file = result_.files[i];
    if (file.unknown_link == 0) continue;
    file.problems.push_back(
        fmt::format("{} of link type {} left out: only Ethernet, Linux cooked and raw IP are decoded",
                    command_line::counted(file.unknown_link, "frame", "frames"), file.unknown_link_type));
    say(fmt::format("{}: warning: {}", file.path, file.problems.back()));
  }
}

const InputFile* CaptureIntake::next_input() {
  if (options_.follow == nullptr) return opened_ < inputs_.size() ? &inputs_[opened_++] : nullptr;
  auto next = options_.follow->next_file();
  if (!next) return nullptr;
  followed_ = *std::move(next);
  return &followed_;
}

bool CaptureIntake::open_next() {
  while (const InputFile* input = next_input()) {
    CaptureFile& file = result_.files.emplace_back();
    file.path = input->path;
    file.frame_base = frames_;
    points_.begin_file(input->path, input->point);
    auto reader = options_.follow == nullptr ? link::CaptureReader::open(input->path) : options_.follow->open(*input);
    if (!reader) {
      fail(reader.error().message);
      continue;
    }
    reader_ = std::make_unique<link::CaptureReader>(*std::move(reader));
    file.format = reader_->format();
    file.size_bytes = reader_->size_bytes();
    progress_.emplace(options_.progress, file.path, file.size_bytes);
    return true;
  }
  return false;
}

bool CaptureIntake::admit() {
  CaptureCounts& counts = result_.counts;
  const bool has_time = record_.timestamp_ns != link::kNoTimestamp;
  if (has_time) {
    if (!start_ns_) start_ns_ = record_.timestamp_ns;
    widen(file().first_ns, file().last_ns, record_.timestamp_ns);
  }
  time_ns_ = has_time ? std::optional{record_.timestamp_ns} : std::nullopt;
  point_ = points_.take(reader_->interfaces(), record_.interface_id, time_ns_);
  if (record_.number == 1 && points_.overlap()) {
    file().is_out_of_order = true;
    file().problems.push_back(*points_.overlap());
    say(*points_.overlap());
  }
  if (!options_.window.contains(time_ns_, start_ns_.value_or(0))) {
    ++counts.outside_window;
    return false;
  }
  points_.count(point_, time_ns_);
  if (has_time) {
    last_ns_ = record_.timestamp_ns;
    widen(counts.first_ns, counts.last_ns, record_.timestamp_ns);
  } else {
    ++counts.without_time;
  }
  return true;
}

void CaptureIntake::close() {
  CaptureFile& file = this->file();
  progress_->clear();
  frames_ += file.frames;
  points_.end_file(file.last_ns);
  count_drops();
  if (options_.follow != nullptr) {
    if (const auto problem = options_.follow->close(followed_, reader_->position_bytes())) fail(*problem);
  }
  for (const link::CaptureWarning& warning : reader_->warnings()) {
    file.problems.push_back(warning.message);
    say(fmt::format("warning: {}", warning.message));
  }
  if (reader_->error()) fail(reader_->error()->message);
  reader_.reset();
}

void CaptureIntake::count_drops() {
  CaptureFile& file = this->file();
  file.dropped_between = file.dropped_interface = file.dropped_os = 0;
  for (const link::CaptureInterface& interface : reader_->interfaces()) {
    file.dropped_between += interface.packet_drops;
    if (!interface.statistics) continue;
    file.dropped_interface += interface.statistics->dropped_interface.value_or(0);
    file.dropped_os += interface.statistics->dropped_os.value_or(0);
  }
}

void CaptureIntake::fail(const std::string& message) {
  file().is_damaged = true;
  file().problems.push_back(message);
  say(message);
}

void CaptureIntake::say(std::string_view text) const {
  if (!options_.quiet) report(text);
}

}  // namespace roce::analyze
