// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/capture_counts.h"

#include <numeric>

#include "analyze/input/frame_info.h"

namespace roce::analyze {

std::uint64_t CaptureCounts::unchecked() const {
  return std::accumulate(icrc_unchecked.begin(), icrc_unchecked.end(), std::uint64_t{0});
}

bool CaptureCounts::count_frame(const Packet& whole, std::size_t captured) {
  ++frames;
  bytes += whole.reported_length();
  if (captured < whole.reported_length()) ++cut_short;
  if (is_judged(whole)) {
    if (whole.is_roce()) ++roce_frames;
    return true;
  }
  if (has_unknown_link_type(whole)) ++unknown_link;
  return false;
}

void CaptureCounts::count(const DecodedPart& part) {
  if (!part.packet.is_roce()) {
    ++pause_frames;
    return;
  }
  ++roce_packets;
  if (part.segments != 0 && part.segment == 0) ++super_frames;
  ++versions[static_cast<std::size_t>(part.packet.version())];
  const ParseReason problem = part.packet.problem().reason;
  if (problem != ParseReason::none && problem != ParseReason::cut_short) ++malformed;
  switch (part.icrc.status) {
    case IcrcStatus::good:
    case IcrcStatus::good_for_ip_id:
      ++icrc_good;
      break;
    case IcrcStatus::bad:
      ++icrc_bad;
      break;
    case IcrcStatus::not_checked:
      ++icrc_unchecked[static_cast<std::size_t>(part.icrc.reason)];
      break;
  }
}

CaptureCounts& CaptureCounts::operator+=(const CaptureCounts& other) {
  for (std::uint64_t CaptureCounts::*count :
       {&CaptureCounts::frames, &CaptureCounts::bytes, &CaptureCounts::outside_window, &CaptureCounts::roce_frames,
        &CaptureCounts::roce_packets, &CaptureCounts::super_frames, &CaptureCounts::icrc_good, &CaptureCounts::icrc_bad,
        &CaptureCounts::malformed, &CaptureCounts::cut_short, &CaptureCounts::pause_frames,
        &CaptureCounts::unknown_link, &CaptureCounts::without_time, &CaptureCounts::clock_backwards}) {
    this->*count += other.*count;
  }
  for (std::size_t i = 0; i < versions.size(); ++i) versions[i] += other.versions[i];
  for (std::size_t i = 0; i < icrc_unchecked.size(); ++i) icrc_unchecked[i] += other.icrc_unchecked[i];
  for (const std::optional<std::int64_t>& time : {other.first_ns, other.last_ns}) {
    if (time) widen(first_ns, last_ns, *time);
  }
  return *this;
}

}  // namespace roce::analyze
