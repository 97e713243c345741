// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment_files.h"

#include <fmt/format.h>

#include <utility>

#include "replay/capture_merge.h"
#include "replay/link_types.h"
#include "roce/link/capture_reader.h"

namespace roce::replay {

namespace {

[[nodiscard]] Outcome<void> check_twice(const std::string& file) {
  if (file != "-") return {};
  return cannot("--path-mtu reads the capture twice, and standard input is there once");
}

constexpr std::uint64_t kProgressFrames = 16'384;

/// `reader` is one or several.
template <typename Reader>
void tell(const ReadingProgress& progress, std::uint64_t frames, const Reader& reader) {
  if (!progress || frames % kProgressFrames != 0 || reader.size_bytes() == 0) return;
  progress(static_cast<double>(reader.position_bytes()) / static_cast<double>(reader.size_bytes()));
}

void learn(const link::CaptureRecord& record, LinkType link_type, SegmentSurvey& survey) {
  const std::int64_t time = record.timestamp_ns == link::kNoTimestamp ? 0 : record.timestamp_ns;
  survey.learn(parse_frame(record.bytes, link_type, record.original_length), link_type, Time{Duration{time}});
}

}  // namespace

Outcome<std::shared_ptr<const SegmentPlan>> plan_segments(const std::string& file, std::uint32_t path_mtu,
                                                          const ReadingProgress& progress) {
  if (const Outcome<void> readable = check_twice(file); !readable) return tl::unexpected(readable.error());
  link::Result<link::CaptureReader> reader = link::CaptureReader::open(file);
  if (!reader) return failed(reader.error().message);
  SegmentSurvey survey{path_mtu};
  for (link::CaptureRecord record; reader->next(record);) {
    const std::optional<LinkType> link_type = known_link_type(record.link_type);
    if (!link_type) return failed(unknown_link_type(file, record.link_type));
    learn(record, *link_type, survey);
    tell(progress, record.number, *reader);
  }
  if (reader->error()) return failed(reader->error()->message);
  return std::make_shared<const SegmentPlan>(survey.finish());
}

Outcome<std::shared_ptr<const SegmentPlan>> plan_segments(const std::vector<std::string>& files, std::uint32_t path_mtu,
                                                          const ReadingProgress& progress) {
  for (const std::string& file : files) {
    if (const Outcome<void> readable = check_twice(file); !readable) return tl::unexpected(readable.error());
  }
  Outcome<CaptureMerge> captures = CaptureMerge::open(files);
  if (!captures) return tl::unexpected(captures.error());
  SegmentSurvey survey{path_mtu};
  for (std::uint64_t frames = 1;; ++frames) {
    const Outcome<const link::CaptureRecord*> record = captures->next();
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) break;
    learn(**record, LinkType::ethernet, survey);
    tell(progress, frames, *captures);
  }
  return std::make_shared<const SegmentPlan>(survey.finish());
}

std::string text_of(const LeftConnection& left) {
  return fmt::format("{} stays as it is: {}", left.name, to_string(left.reason));
}

}  // namespace roce::replay
