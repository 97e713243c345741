// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "roce/link/capture_reader.h"
#include "roce/wire/packet_spec.h"
#include "support/source_tree.h"

namespace roce {
namespace {

std::vector<std::filesystem::path> all_captures() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(roce::test::captures_folder())) {
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".pcap" || suffix == ".pcapng") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns a test name of letters, digits and underscores.
std::string name_of(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class EveryPacketOf : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(EveryPacketOf, IsBuiltAgainFromItsSpecificationByteForByte) {
  auto reader = link::CaptureReader::open(GetParam().string());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  link::CaptureRecord record;
  while (reader->next(record)) {
    const Packet packet = parse_frame(record.bytes, static_cast<LinkType>(record.link_type), record.original_length);
    const std::vector<std::byte> frame(record.bytes.begin(), record.bytes.end());
    const PacketSpec spec = PacketSpec::from_packet(packet);
    const SpecResult<std::vector<std::byte>> built = spec.build();
    ASSERT_TRUE(built.has_value()) << built.error().message;
    ASSERT_EQ(*built, frame) << "packet " << record.number;
    const SpecResult<PacketSpec> from_text = PacketSpec::from_text(spec.to_text());
    ASSERT_TRUE(from_text.has_value()) << from_text.error().message;
    ASSERT_EQ(from_text->build().value(), frame) << "packet " << record.number << '\n' << spec.to_text();
  }
  EXPECT_FALSE(reader->error().has_value());
  EXPECT_TRUE(reader->warnings().empty());
}

INSTANTIATE_TEST_SUITE_P(Captures, EveryPacketOf, testing::ValuesIn(all_captures()), name_of);

}  // namespace
}  // namespace roce
