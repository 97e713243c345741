// SPDX-License-Identifier: BSD-2-Clause
#include "replay/survey/capture_surveys.h"

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

#include "capture/capture_merge.h"
#include "capture/link_types.h"
#include "roce/link/capture_reader.h"

namespace roce::replay {

namespace {

[[nodiscard]] Outcome<void> check_twice(const std::string& file, std::string_view option) {
  if (file != "-") return {};
  return cannot(fmt::format("{} reads the capture twice, and standard input is there once", option));
}

constexpr std::string_view kPathMtu = "--path-mtu";
constexpr std::uint64_t kProgressFrames = 16'384;

/// `reader` is a CaptureReader or a CaptureMerge.
template <typename Reader>
void tell(const ReadingProgress& progress, std::uint64_t frames, const Reader& reader) {
  if (!progress || frames % kProgressFrames != 0 || reader.size_bytes() == 0) return;
  progress(static_cast<double>(reader.position_bytes()) / static_cast<double>(reader.size_bytes()));
}

[[nodiscard]] Time time_of(const link::CaptureRecord& record) {
  return Time{Duration{record.timestamp_ns == link::kNoTimestamp ? 0 : record.timestamp_ns}};
}

void learn(const link::CaptureRecord& record, LinkType link_type, SegmentSurvey& survey) {
  survey.learn(parse_frame(record.bytes, link_type, record.original_length), link_type, time_of(record));
}

/// Calls `use` for each frame of captures that are played as one. `option` is the option that needs them read.
Outcome<void> for_each_frame(const std::vector<std::string>& files, std::string_view option,
                             const ReadingProgress& progress,
                             const std::function<void(const link::CaptureRecord&)>& use) {
  for (const std::string& file : files) {
    if (Outcome<void> readable = check_twice(file, option); !readable) return readable;
  }
  Outcome<capture::CaptureMerge> captures = capture::CaptureMerge::open(files);
  if (!captures) return tl::unexpected(captures.error());
  for (std::uint64_t frames = 1;; ++frames) {
    const Outcome<const link::CaptureRecord*> record = captures->next();
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) return {};
    use(**record);
    tell(progress, frames, *captures);
  }
}

}  // namespace

Outcome<std::shared_ptr<const SegmentPlan>> plan_segments(const std::string& file, std::uint32_t path_mtu,
                                                          const ReadingProgress& progress) {
  if (const Outcome<void> readable = check_twice(file, kPathMtu); !readable) return tl::unexpected(readable.error());
  link::Result<link::CaptureReader> reader = link::CaptureReader::open(file);
  if (!reader) return failed(reader.error().message);
  SegmentSurvey survey{path_mtu};
  for (link::CaptureRecord record; reader->next(record);) {
    const std::optional<LinkType> link_type = capture::known_link_type(record.link_type);
    if (!link_type) return failed(capture::unknown_link_type(file, record.link_type));
    learn(record, *link_type, survey);
    tell(progress, record.number, *reader);
  }
  if (reader->error()) return failed(reader->error()->message);
  return std::make_shared<const SegmentPlan>(survey.finish());
}

Outcome<std::shared_ptr<const SegmentPlan>> plan_segments(const std::vector<std::string>& files, std::uint32_t path_mtu,
                                                          const ReadingProgress& progress) {
  SegmentSurvey survey{path_mtu};
  const Outcome<void> read = for_each_frame(
      files, kPathMtu, progress, [&](const link::CaptureRecord& record) { learn(record, LinkType::ethernet, survey); });
  if (!read) return tl::unexpected(read.error());
  return std::make_shared<const SegmentPlan>(survey.finish());
}

Outcome<std::shared_ptr<const ConnectionSides>> find_sides(const std::vector<std::string>& files, const SideEnds& ends,
                                                           const ReadingProgress& progress) {
  constexpr std::string_view option = "--side-a";
  SideSurvey survey{ends};
  const Outcome<void> read = for_each_frame(files, option, progress, [&](const link::CaptureRecord& record) {
    survey.learn(parse_frame(record.bytes, LinkType::ethernet, record.original_length), time_of(record));
  });
  if (!read) return tl::unexpected(read.error());
  ReadResult<ConnectionSides> sides = survey.finish();
  if (!sides) return cannot(fmt::format("{} {}", option, sides.error()));
  return std::make_shared<const ConnectionSides>(std::move(*sides));
}

std::string text_of(const LeftConnection& left) {
  return fmt::format("{} stays as it is: {}", left.name, to_string(left.reason));
}

}  // namespace roce::replay
