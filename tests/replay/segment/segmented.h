// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "capture/link_types.h"
#include "replay/segment/segment_survey.h"
#include "replay/segment/segmenter.h"
#include "roce/wire/packet_spec.h"
#include "support/captures.h"

namespace roce::replay::test {

/// A frame of a capture with its time.
struct TimedFrame {
  std::vector<std::byte> bytes;
  Time time{};
  std::uint32_t reported_length = 0;

  [[nodiscard]] Packet parse() const { return parse_frame(bytes, LinkType::ethernet, reported_length); }
  friend bool operator==(const TimedFrame&, const TimedFrame&) = default;
};

using Trace = std::vector<TimedFrame>;

inline Trace trace_of(const std::filesystem::path& path) {
  Trace trace;
  roce::test::for_each_record(path, [&](const link::CaptureRecord& record) {
    trace.push_back(
        {{record.bytes.begin(), record.bytes.end()}, Time{Duration{record.timestamp_ns}}, record.original_length});
  });
  return trace;
}

/// The result of cutting a trace anew.
struct Segmented {
  Trace trace;
  std::shared_ptr<const SegmentPlan> plan;
  SegmentCounts counts;
};

inline Segmented segmented(const Trace& trace, std::uint32_t path_mtu) {
  SegmentSurvey survey{path_mtu};
  for (const TimedFrame& frame : trace) survey.learn(frame.parse(), LinkType::ethernet, frame.time);
  Segmented result{.trace = {}, .plan = std::make_shared<const SegmentPlan>(survey.finish()), .counts = {}};
  Segmenter segmenter{result.plan};
  for (const TimedFrame& frame : trace) {
    for (const SegmentedFrame& out : segmenter.take(frame.parse(), LinkType::ethernet)) {
      result.trace.push_back({{out.bytes.begin(), out.bytes.end()}, frame.time, out.reported_length});
    }
  }
  result.counts = segmenter.counts();
  return result;
}

}  // namespace roce::replay::test
