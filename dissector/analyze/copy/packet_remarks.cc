// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/copy/packet_remarks.h"

#include <fmt/format.h>

#include "analyze/report/event_text.h"
#include "analyze/report/json_values.h"
#include "text/human_units.h"

namespace roce::analyze {

void PacketRemarks::add(std::uint64_t number, const analysis::Verdict& verdict) {
  if (verdict_info(verdict.kind).severity < least_) return;
  frames_[verdict.packet.frame].push_back({number, verdict});
}

std::string PacketRemarks::text(std::uint64_t frame, const std::vector<CaptureFile>& files) const {
  const auto found = frames_.find(frame);
  if (found == frames_.end()) return {};
  std::string text;
  for (const auto& [number, verdict] : found->second) {
    const analysis::VerdictInfo& info = verdict_info(verdict.kind);
    if (!text.empty()) text += '\n';
    text += fmt::format("RoCE {} {}", severity_text(info.severity), info.name);
    if (verdict.packet.segment != 0) text += fmt::format(" (packet {} of the frame)", verdict.packet.segment + 1);
    text += fmt::format(": {}", event_text(verdict));
    if (verdict.stream != analysis::kNoStream) text += fmt::format("; stream {}", verdict.stream);
    text += fmt::format(", PSN {}", verdict.first_psn.value());
    if (verdict.psn_count > 1) text += fmt::format(" and {} more", verdict.psn_count - 1);
    if (verdict.cause != analysis::Cause::none) text += fmt::format(", cause {}", to_string(verdict.cause));
    if (verdict.spurious) text += ", spurious";
    if (verdict.other) {
      const FramePlace other = find_frame(files, verdict.other.frame);
      text += fmt::format(", see frame {}", other.number);
      if (files.size() > 1 && other.file != nullptr) text += fmt::format(" of {}", other.file->path);
      if (verdict.elapsed != Duration{})
        text += fmt::format(", {} before", text::duration_text(verdict.elapsed.count()));
    } else if (verdict.elapsed != Duration{}) {
      text += fmt::format(", {}", text::duration_text(verdict.elapsed.count()));
    }
    if (info.severity != analysis::Severity::note && !info.advice.empty()) text += fmt::format(" [{}]", info.advice);
  }
  return text;
}

}  // namespace roce::analyze
