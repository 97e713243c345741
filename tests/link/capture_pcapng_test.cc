// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "capture_builder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kPacketFlags = 2;
constexpr std::uint16_t kDropCount = 4;
constexpr std::uint16_t kResolution = 9;
constexpr std::uint16_t kOffset = 14;

// `file` must outlive the reader.
CaptureReader open(const FileBuilder& file) {
  auto reader = CaptureReader::from_memory(file.bytes(), "test.pcapng");
  if (!reader) throw std::runtime_error(reader.error().message);
  return std::move(*reader);
}

class Pcapng : public ::testing::TestWithParam<bool> {
 protected:
  FileBuilder file_{GetParam()};
  [[nodiscard]] FileBuilder options() const { return FileBuilder(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(BothByteOrders, Pcapng, ::testing::Bool(),
                         [](const auto& variant) { return variant.param ? "BigEndian" : "LittleEndian"; });

TEST_P(Pcapng, EnhancedPacketWithAllItsOptions) {
  file_.section().interface(1, 96);
  const std::size_t packet_at = file_.size();
  file_.enhanced(0, 1'700'000'000'123'456, "hello",
                 options()
                     .option(kComment, "first")
                     .option(kComment, "second")
                     .option_u32(kPacketFlags, 2)
                     .option_u64(kDropCount, 0x1'0000'0002)
                     .option(3, "hash")
                     .end_options(),
                 1500);
  file_.enhanced(0, 1'700'000'000'123'457, "bye");
  CaptureReader reader = open(file_);
  CaptureRecord record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(text(record.bytes), "hello");
  EXPECT_EQ(record.original_length, 1500U);
  EXPECT_EQ(record.timestamp_ns, 1'700'000'000'123'456'000);
  EXPECT_EQ(record.number, 1U);
  EXPECT_EQ(record.file_offset, packet_at);
  EXPECT_EQ(record.comment, "first");
  EXPECT_EQ(record.comment_count, 2);
  EXPECT_EQ(record.flags, 2U);
  EXPECT_EQ(record.drop_count, 0x1'0000'0002U);
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(text(record.bytes), "bye");
  EXPECT_EQ(record.number, 2U);
  EXPECT_EQ(record.comment, "");
  EXPECT_EQ(record.comment_count, 0);
  EXPECT_FALSE(record.flags);
  EXPECT_FALSE(record.drop_count);
  EXPECT_FALSE(reader.next(record));
  EXPECT_FALSE(reader.error());
  EXPECT_THAT(reader.warnings(), IsEmpty());
  EXPECT_EQ(reader.interfaces()[0].packet_drops, 0x1'0000'0002U);
}

TEST_P(Pcapng, InterfacesKeepWhatTheFileSays) {
  file_.section(
      options().option(2, "x86").option(3, "Linux").option(4, "dumpcap").option(kComment, "why").end_options());
  file_.interface(1, 262144,
                  options()
                      .option(2, "eth0")
                      .option(3, "uplink")
                      .option_u8(kResolution, 9)
                      .option(11, std::string("\0udp port 4791", 14))
                      .option_u8(13, 32)
                      .option_u64(kOffset, 100)
                      .option(kComment, "note")
                      .end_options());
  file_.interface(276, 0);
  file_.enhanced(1, 5, "cooked").enhanced(0, 5, "ethernet");
  CaptureReader reader = open(file_);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].link_type, 276);
  EXPECT_EQ(records[0].interface_id, 1U);
  EXPECT_EQ(records[0].timestamp_ns, 5'000);
  EXPECT_EQ(records[1].link_type, 1);
  EXPECT_EQ(records[1].timestamp_ns, 100'000'000'005);
  ASSERT_THAT(reader.interfaces(), SizeIs(2));
  const CaptureInterface& first = reader.interfaces()[0];
  EXPECT_EQ(first.name, "eth0");
  EXPECT_EQ(first.description, "uplink");
  EXPECT_EQ(first.filter, "udp port 4791");
  EXPECT_EQ(first.comment, "note");
  EXPECT_EQ(first.snaplen, 262144U);
  EXPECT_EQ(first.timestamp_resolution, 9);
  EXPECT_EQ(first.timestamp_offset_s, 100);
  EXPECT_EQ(first.fcs_length, 4);
  ASSERT_THAT(reader.sections(), SizeIs(1));
  EXPECT_EQ(reader.sections()[0].hardware, "x86");
  EXPECT_EQ(reader.sections()[0].os, "Linux");
  EXPECT_EQ(reader.sections()[0].application, "dumpcap");
  EXPECT_EQ(reader.sections()[0].comment, "why");
}

TEST_P(Pcapng, EveryTimestampResolution) {
  constexpr std::uint64_t kSeconds = 1'700'000'000;
  file_.section();
  std::uint64_t per_second = 1000;
  std::uint32_t id = 0;
  for (std::uint8_t n = 3; n <= 9; ++n, per_second *= 10) {
    file_.interface(1, 0, options().option_u8(kResolution, n).end_options());
    file_.enhanced(id++, kSeconds * per_second + per_second / 4, "x");
  }
  for (const unsigned n : {2U, 10U, 20U, 30U}) {
    file_.interface(1, 0, options().option_u8(kResolution, static_cast<std::uint8_t>(0x80U | n)).end_options());
    file_.enhanced(id++, (kSeconds << n) + (1U << n) / 4, "x");
  }
  CaptureReader reader = open(file_);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(11));
  for (const Record& record : records) {
    EXPECT_EQ(record.timestamp_ns, 1'700'000'000'250'000'000) << "interface " << record.interface_id;
  }
}

TEST_P(Pcapng, StatisticsAreKept) {
  file_.section().interface(1, 0, options().option_u8(kResolution, 9).end_options()).interface();
  const auto statistics = [&](std::uint64_t received, std::uint64_t dropped) {
    FileBuilder body = options().u32(0).time(9'000'000'007);
    body.u16(2).u16(8).time(1'000'000'000).u16(3).u16(8).time(9'000'000'000);
    body.option_u64(4, received).option_u64(5, dropped).option_u64(6, 3).option_u64(7, 4).option_u64(8, 5);
    file_.block(5, body.end_options());
  };
  statistics(10, 1);
  statistics(1000, 77);
  CaptureReader reader = open(file_);
  EXPECT_THAT(read_all(reader), IsEmpty());
  CaptureStatistics expected;
  expected.timestamp_ns = 9'000'000'007;
  expected.start_ns = 1'000'000'000;
  expected.end_ns = 9'000'000'000;
  expected.received = 1000;
  expected.dropped_interface = 77;
  expected.accepted_by_filter = 3;
  expected.dropped_os = 4;
  expected.delivered = 5;
  EXPECT_EQ(reader.interfaces()[0].statistics, expected);
  EXPECT_FALSE(reader.interfaces()[1].statistics);
  EXPECT_THAT(reader.warnings(), IsEmpty());
}

TEST_P(Pcapng, SimplePacketsEndAtTheSnapLengthAndHaveNoTime) {
  file_.section().interface(1, 6);
  file_.block(3, options().u32(4).raw("four")).block(3, options().u32(100).raw("sixsix"));
  CaptureReader reader = open(file_);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].data, "four");
  EXPECT_EQ(records[1].data, "sixsix");
  EXPECT_EQ(records[1].original_length, 100U);
  EXPECT_EQ(records[1].timestamp_ns, kNoTimestamp);
  EXPECT_FALSE(reader.error());
}

TEST_P(Pcapng, ObsoletePacketBlockAndSumOfTheDrops) {
  file_.section().interface().interface(276);
  file_.block(2, options().u16(1).u16(3).time(1'000'001).u32(5).u32(60).raw("hello").pad4().option(kComment, "old"));
  file_.block(2, options().u16(0).u16(0xFFFF).time(1'000'002).u32(3).u32(3).raw("bye"));
  file_.enhanced(1, 5, "x", options().option_u64(kDropCount, 4).end_options());
  CaptureReader reader = open(file_);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0], (Record{"hello", 1'000'001'000, 60, 1, 276, "old", std::nullopt, 3}));
  EXPECT_EQ(records[1], (Record{"bye", 1'000'002'000, 3, 0, 1, "", std::nullopt, std::nullopt}));
  EXPECT_EQ(reader.interfaces()[1].packet_drops, 3U + 4U);
}

TEST_P(Pcapng, UnknownBlocksAreSkipped) {
  file_.block(0x0A0D0D0A, options().u32(0x1A2B3C4D).u16(1).u16(2).u64(~std::uint64_t{0}));
  file_.interface().block(4, options().raw("names...")).enhanced(0, 1, "a").block(0x0BAD, options().raw("custom!!"));
  file_.block(10, options().raw("secrets.")).enhanced(0, 2, "b");
  CaptureReader reader = open(file_);
  EXPECT_THAT(read_all(reader), SizeIs(2));
  EXPECT_FALSE(reader.error());
  EXPECT_THAT(reader.warnings(), IsEmpty());
}

TEST_P(Pcapng, SectionsHaveTheirOwnByteOrderAndInterfaces) {
  file_.section().interface(1).interface(101).enhanced(1, 1'000'000, "a");
  file_.big_endian(!GetParam());
  file_.section().interface(276).enhanced(0, 2'000'000, "b");
  CaptureReader reader = open(file_);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0], (Record{"a", 1'000'000'000, 1, 1, 101, "", std::nullopt, std::nullopt}));
  EXPECT_EQ(records[1], (Record{"b", 2'000'000'000, 1, 2, 276, "", std::nullopt, std::nullopt}));
  ASSERT_THAT(reader.interfaces(), SizeIs(3));
  EXPECT_EQ(reader.interfaces()[2].section, 1U);
  EXPECT_THAT(reader.sections(), SizeIs(2));
}

TEST_P(Pcapng, EveryPrefixGivesTheWholeRecordsAndAWarning) {
  std::vector<std::size_t> block_ends;
  std::vector<std::size_t> packet_ends;
  file_.section();
  const std::size_t first_end = file_.size();
  block_ends.push_back(file_.size());
  file_.interface();
  block_ends.push_back(file_.size());
  for (const std::string_view data : {"first", "second!", "3"}) {
    file_.enhanced(0, 1, data, options().option(kComment, data).end_options());
    block_ends.push_back(file_.size());
    packet_ends.push_back(file_.size());
    file_.block(0x0BAD, options().raw("custom"));
    block_ends.push_back(file_.size());
  }
  file_.block(3, options().u32(4).raw("four"));
  block_ends.push_back(file_.size());
  packet_ends.push_back(file_.size());
  for (std::size_t length = 0; length < first_end; ++length) {
    EXPECT_FALSE(CaptureReader::from_memory(std::span(file_.bytes()).first(length))) << length;
  }
  for (std::size_t length = first_end; length <= file_.size(); ++length) {
    auto reader = CaptureReader::from_memory(std::span(file_.bytes()).first(length));
    ASSERT_TRUE(reader) << length;
    const auto before = [length](std::size_t end) { return end <= length; };
    const auto complete = static_cast<std::size_t>(std::count_if(packet_ends.begin(), packet_ends.end(), before));
    EXPECT_THAT(read_all(*reader), SizeIs(complete)) << length;
    EXPECT_THAT(reader->warnings(), IsEmpty()) << length;
    const std::size_t last_end = *(std::upper_bound(block_ends.begin(), block_ends.end(), length) - 1);
    if (last_end == length) {
      EXPECT_FALSE(reader->error()) << length;
    } else {
      ASSERT_TRUE(reader->error()) << length;
      EXPECT_EQ(reader->error()->offset, last_end);
      EXPECT_THAT(reader->error()->message, HasSubstr(std::to_string(length - last_end) + " there"));
    }
  }
}

// Damage: the records before it are delivered, then an error names the offset of the block.
class PcapngDamage : public Pcapng {
 protected:
  void SetUp() override {
    file_.section().interface().enhanced(0, 1, "fine");
    damage_at_ = file_.size();
  }
  void expect_error(const std::string& message) {
    CaptureReader reader = open(file_);
    EXPECT_THAT(read_all(reader), SizeIs(1));
    ASSERT_TRUE(reader.error());
    EXPECT_EQ(reader.error()->offset, damage_at_);
    EXPECT_THAT(reader.error()->message, HasSubstr("test.pcapng: byte " + std::to_string(damage_at_) + ": "));
    EXPECT_THAT(reader.error()->message, HasSubstr(message));
  }
  std::size_t damage_at_ = 0;
};

INSTANTIATE_TEST_SUITE_P(BothByteOrders, PcapngDamage, ::testing::Bool(),
                         [](const auto& variant) { return variant.param ? "BigEndian" : "LittleEndian"; });

TEST_P(PcapngDamage, LengthTooSmall) {
  file_.u32(6).u32(8).u32(8);
  expect_error("claims a length of 8 bytes");
}

TEST_P(PcapngDamage, LengthNoMultipleOfFour) {
  file_.u32(6).u32(33).raw(std::string(40, 'x'));
  expect_error("claims a length of 33 bytes");
}

TEST_P(PcapngDamage, AbsurdBlockLength) {
  file_.u32(6).u32(0xFFFFFFF0).raw(std::string(40, 'x'));
  expect_error("claims a length of 4294967280 bytes, more than");
}

TEST_P(PcapngDamage, LengthsDiffer) {
  file_.u32(6).u32(36).raw(std::string(24, 'x')).u32(32);
  expect_error("has length 36 at its start but 32 at its end");
}

TEST_P(PcapngDamage, LengthsOfUnknownBlockDiffer) {
  file_.u32(0x0BAD).u32(36).raw(std::string(24, 'x')).u32(32);
  expect_error("has length 36 at its start but 32 at its end");
}

TEST_P(PcapngDamage, CapturedLengthBeyondTheBlock) {
  file_.block(6, options().u32(0).time(1).u32(5).u32(5).raw("four"));
  expect_error("packet 2 claims 5 captured bytes in a block with room for 4");
}

TEST_P(PcapngDamage, BlockTooShortForItsHeader) {
  file_.block(6, options().u32(0).time(1));
  expect_error("packet block too short: its body needs 20 bytes, it has 12");
}

TEST_P(PcapngDamage, SectionOfUnknownByteOrder) {
  file_.u32(0x0A0D0D0A).u32(28).u32(0x11223344).raw(std::string(16, 'x'));
  expect_error("byte-order magic 0x");
}

TEST_P(PcapngDamage, SectionOfUnknownVersion) {
  file_.block(0x0A0D0D0A, options().u32(0x1A2B3C4D).u16(2).u16(0).u64(0));
  expect_error("pcapng version 2.0");
}

TEST_P(PcapngDamage, PacketOfUnknownInterfaceIsSkippedWithAWarning) {
  file_.enhanced(7, 1, "lost").enhanced(0, 1, "kept");
  CaptureReader reader = open(file_);
  EXPECT_THAT(read_all(reader), SizeIs(2));
  EXPECT_FALSE(reader.error());
  ASSERT_THAT(reader.warnings(), SizeIs(1));
  EXPECT_EQ(reader.warnings()[0].offset, damage_at_);
  EXPECT_THAT(reader.warnings()[0].message, HasSubstr("interface 7 skipped"));
}

TEST_P(PcapngDamage, OptionBeyondTheBlockKeepsThePacket) {
  file_.enhanced(0, 1, "data", options().option(kComment, "good").u16(kComment).u16(100).raw("bad!"));
  CaptureReader reader = open(file_);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[1].comment, "good");
  EXPECT_THAT(reader.warnings(), SizeIs(1));
}

TEST_P(PcapngDamage, WarningsAreBounded) {
  for (int i = 0; i < 1000; ++i) file_.enhanced(7, 1, "lost");
  CaptureReader reader = open(file_);
  EXPECT_THAT(read_all(reader), SizeIs(1));
  EXPECT_THAT(reader.warnings(), SizeIs(101));
}

}  // namespace
}  // namespace roce::link::test
