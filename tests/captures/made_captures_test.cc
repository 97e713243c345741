// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "made_frames.h"
#include "roce/wire/super_frame.h"
#include "support/source_tree.h"
#include "support/temporary_folder.h"

namespace roce::test {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(MadeCaptures, AreWhatTheProgramWrites) {
  const roce::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.folder();
  for (const MadeCapture& capture : made_captures()) {
    const std::string file = capture.name + ".pcapng";
    ASSERT_EQ(write_capture(capture, (folder / file).string()), "");
    EXPECT_TRUE(contents(folder / file) ==
                contents(std::filesystem::path{roce::test::captures_folder()} / "made" / file))
        << file << " differs: run scripts/make-captures, look at the difference, and commit it";
  }
}

TEST(MadeCaptures, ParseToTheEndAndHaveTheIcrcTheySay) {
  for (const MadeCapture& capture : made_captures()) {
    for (const MadeFrame& made : capture.frames) {
      const Packet packet = parse_frame(made.bytes, made.link_type);
      EXPECT_EQ(packet.problem().reason, ParseReason::none)
          << capture.name << ", " << made.comment << ": " << to_string(packet.problem());
      if (!packet.is_roce()) continue;
      for_each_packet(packet, [&](const Packet&, const IcrcVerdict& verdict) {
        EXPECT_EQ(verdict.status == IcrcStatus::good, made.icrc_is_good) << capture.name << ", " << made.comment;
      });
    }
  }
}

TEST(MadeCaptures, SuperFramesHoldAsManyPacketsAsTheySay) {
  for (const MadeCapture& capture : made_captures()) {
    if (capture.name != "super-frames") continue;
    std::vector<int> counts;
    for (const MadeFrame& made : capture.frames) {
      int count = 0;
      for_each_packet(parse_frame(made.bytes, made.link_type), [&](const Packet&, const IcrcVerdict&) { ++count; });
      counts.push_back(count);
    }
    EXPECT_EQ(counts, (std::vector<int>{8, 4, 3, 5}));
  }
}

}  // namespace
}  // namespace roce::test
