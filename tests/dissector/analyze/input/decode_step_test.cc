// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/decode_step.h"

#include <gtest/gtest.h>

#include "roce/link/capture_reader.h"
#include "support/source_tree.h"

namespace roce::analyze::test {
namespace {

TEST(DecodeStep, PacketsOfASuperFrameHaveTheHeadersInFrontOfIt) {
  auto reader = link::CaptureReader::open(roce::test::captures_folder() + "/made/super-frames.pcapng");
  ASSERT_TRUE(reader.has_value());
  link::CaptureRecord record;
  unsigned parts = 0;
  while (reader->next(record)) {
    const Packet whole = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    if (!is_judged(whole)) continue;
    const analysis::Observation outside =
        analysis::observe_packet(whole, check_icrc(whole), Time{}, {record.number, 0});
    decode_step(whole, Time{}, record.number, 0, [&](const DecodedPart& part) {
      SCOPED_TRACE(record.number);
      parts += part.segments != 0 ? 1 : 0;
      EXPECT_NE(part.observation.udp_source_port, 0U);
      EXPECT_EQ(part.observation.udp_source_port, outside.udp_source_port);
      EXPECT_EQ(part.observation.domain, outside.domain);
      EXPECT_EQ(part.observation.priority, outside.priority);
      EXPECT_EQ(part.observation.link_priority, outside.link_priority);
      EXPECT_EQ(part.observation.source_mac, outside.source_mac);
      EXPECT_EQ(part.observation.destination_mac, outside.destination_mac);
    });
  }
  EXPECT_GT(parts, 1U);
}

}  // namespace
}  // namespace roce::analyze::test
