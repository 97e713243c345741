// SPDX-License-Identifier: BSD-2-Clause
// Soft-RoCE keeps the rules by which both ends are judged, in all captures of it.
#include <gtest/gtest.h>

#include <filesystem>

#include "roce/analysis/tracker.h"
#include "roce/link/capture_file.h"
#include "roce/wire/super_frame.h"
#include "support/source_tree.h"

namespace roce::analysis {
namespace {

/// Judges all packets of a capture and returns their number.
std::size_t judge(const std::string& path) {
  auto reader = link::CaptureReader::open(path);
  EXPECT_TRUE(reader.has_value()) << path;
  if (!reader) return 0;
  TrackerOptions options;
  // Soft-RoCE does not send CNPs; endpoints that do send them less often than this.
  options.cnp_interval = std::chrono::microseconds{1};
  Tracker tracker{options};
  link::CaptureRecord record;
  std::size_t packets = 0;
  while (reader->next(record)) {
    const Packet packet = parse_frame(record.bytes, static_cast<LinkType>(record.link_type), record.original_length);
    std::uint32_t segment = 0;
    for_each_packet(packet, [&](const Packet& part, const IcrcVerdict& icrc) {
      const Time time{Duration{record.timestamp_ns}};
      ++packets;
      for (const Verdict& verdict :
           tracker.observe(observe_packet(part, icrc, time, {record.number, segment++})).verdicts) {
        EXPECT_EQ(verdict.rule, Rule::none)
            << path << " frame " << verdict.packet.frame << ": " << rule_info(verdict.rule).identifier;
      }
    });
  }
  return packets;
}

TEST(CapturesConformance, SoftRoceBreaksNoRule) {
  std::size_t packets = 0;
  for (const std::string folder : {"softroce", "counters"}) {
    for (const auto& entry : std::filesystem::directory_iterator(roce::test::captures_folder() + "/" + folder)) {
      if (entry.path().extension() == ".pcap") packets += judge(entry.path().string());
    }
  }
  EXPECT_GT(packets, 8'000U);
}

}  // namespace
}  // namespace roce::analysis
