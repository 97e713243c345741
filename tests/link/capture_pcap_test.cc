// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "capture_builder.h"
#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;
constexpr std::uint32_t kNanoseconds = 0xA1B23C4D;
constexpr std::uint32_t kModified = 0xA1B2CD34;

// `file` must outlive the reader.
CaptureReader open(const FileBuilder& file) {
  auto reader = CaptureReader::from_memory(file.bytes());
  if (!reader) throw std::runtime_error(reader.error().message);
  return std::move(*reader);
}

std::string open_error(const FileBuilder& file) {
  const auto reader = CaptureReader::from_memory(file.bytes(), "test.pcap");
  return reader ? "opened" : reader.error().message;
}

class PcapVariants : public ::testing::TestWithParam<std::tuple<std::uint32_t, bool>> {};

TEST_P(PcapVariants, EveryFieldIsRead) {
  const auto [magic, big_endian] = GetParam();
  FileBuilder file(big_endian);
  file.pcap_header(magic, 113, 96).pcap_record(1'700'000'000, 999'999, "hello").pcap_record(4'000'000'000, 1, "", 1500);
  CaptureReader reader = open(file);

  CaptureRecord record;
  ASSERT_TRUE(reader.next(record));
  const std::int64_t unit = magic == kNanoseconds ? 1 : 1000;
  EXPECT_EQ(text(record.bytes), "hello");
  EXPECT_EQ(record.original_length, 5U);
  EXPECT_EQ(record.timestamp_ns, 1'700'000'000'000'000'000 + 999'999 * unit);
  EXPECT_EQ(record.link_type, 113);
  EXPECT_EQ(record.interface_id, 0U);
  EXPECT_EQ(record.number, 1U);
  EXPECT_EQ(record.file_offset, 24U);
  ASSERT_TRUE(reader.next(record));
  EXPECT_THAT(record.bytes, IsEmpty());
  EXPECT_EQ(record.original_length, 1500U);
  EXPECT_EQ(record.timestamp_ns, 4'000'000'000'000'000'000 + unit);
  EXPECT_EQ(record.number, 2U);
  EXPECT_EQ(record.file_offset, 24U + 16 + 5);
  EXPECT_FALSE(reader.next(record));
  EXPECT_FALSE(reader.next(record));
  EXPECT_FALSE(reader.error());
  EXPECT_THAT(reader.warnings(), IsEmpty());
  ASSERT_THAT(reader.interfaces(), SizeIs(1));
  EXPECT_EQ(reader.interfaces()[0].link_type, 113);
  EXPECT_EQ(reader.interfaces()[0].snaplen, 96U);
  EXPECT_EQ(reader.interfaces()[0].timestamp_resolution, magic == kNanoseconds ? 9 : 6);
  EXPECT_TRUE(reader.keeps_bytes());
  EXPECT_EQ(reader.size_bytes(), file.size());
  EXPECT_EQ(reader.position_bytes(), file.size());
}

INSTANTIATE_TEST_SUITE_P(All, PcapVariants,
                         ::testing::Combine(::testing::Values(kMicroseconds, kNanoseconds), ::testing::Bool()));

TEST(Pcap, ModifiedMagicHasLongerRecordHeaders) {
  for (const bool big_endian : {false, true}) {
    FileBuilder file(big_endian);
    file.pcap_header(kModified);
    for (const std::string_view data : {"one", "two"}) {
      file.u32(7).u32(8).u32(3).u32(60).u32(2).u16(0x0800).u8(4).u8(0).raw(data);
    }
    CaptureReader reader = open(file);
    const auto records = read_all(reader);
    ASSERT_THAT(records, SizeIs(2));
    EXPECT_EQ(records[0].data, "one");
    EXPECT_EQ(records[1].data, "two");
    EXPECT_EQ(records[1].timestamp_ns, 7'000'008'000);
    EXPECT_EQ(records[1].original_length, 60U);
    EXPECT_FALSE(reader.error());
  }
}

TEST(Pcap, FrameCheckSequenceLengthIsReadFromTheLinkTypeWord) {
  FileBuilder file;
  file.pcap_header(kMicroseconds, 0x24000001);
  CaptureReader reader = open(file);
  EXPECT_EQ(reader.interfaces()[0].link_type, 1);
  EXPECT_EQ(reader.interfaces()[0].fcs_length, 4);
}

TEST(Pcap, EveryPrefixGivesTheWholeRecordsAndAWarning) {
  for (const std::uint32_t magic : {kMicroseconds, kModified}) {
    for (const bool big_endian : {false, true}) {
      FileBuilder whole(big_endian);
      whole.pcap_header(magic);
      std::vector<std::size_t> ends;
      for (const std::string_view data : {"first", "second!", "3"}) {
        whole.u32(1).u32(2).u32(data.size()).u32(data.size());
        if (magic == kModified) whole.u64(0);
        whole.raw(data);
        ends.push_back(whole.size());
      }
      for (std::size_t length = 24; length <= whole.size(); ++length) {
        auto reader = CaptureReader::from_memory(std::span(whole.bytes()).first(length));
        ASSERT_TRUE(reader) << length;
        const auto complete = static_cast<std::size_t>(
            std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= length; }));
        EXPECT_THAT(read_all(*reader), SizeIs(complete)) << length;
        EXPECT_THAT(reader->warnings(), IsEmpty()) << length;
        const std::size_t last_end = complete == 0 ? 24 : ends[complete - 1];
        if (length == last_end) {
          EXPECT_FALSE(reader->error()) << length;
        } else {
          ASSERT_TRUE(reader->error()) << length;
          EXPECT_EQ(reader->error()->offset, last_end);
          EXPECT_THAT(reader->error()->message, HasSubstr(std::to_string(length - last_end) + " there"));
        }
      }
    }
  }
}

TEST(Pcap, AbsurdLengthIsAnErrorAfterTheRecordsBefore) {
  FileBuilder file;
  file.pcap_header(kNanoseconds).pcap_record(1, 2, "fine").u32(0).u32(0).u32(0xDEADBEEF).u32(60).raw("lost");
  CaptureReader reader = open(file);
  EXPECT_THAT(read_all(reader), SizeIs(1));
  ASSERT_TRUE(reader.error());
  EXPECT_EQ(reader.error()->offset, 44U);
  EXPECT_THAT(reader.error()->message, HasSubstr("byte 44: packet 2 claims 3735928559 captured bytes"));
  EXPECT_THAT(reader.warnings(), IsEmpty());
}

TEST(Pcap, RecordsLongerThanTheSnapLengthAreReadUpToWhatIsUsual) {
  const std::string data(200'000, 'x');
  FileBuilder file;
  file.pcap_header(kMicroseconds, 1, 96).pcap_record(1, 2, data);
  CaptureReader reader = open(file);
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].data, data);
}

TEST(Pcap, SuperFramesBeyondTheUsualNeedASnapLength) {
  const std::string data(500'000, 'x');
  FileBuilder long_snap;
  long_snap.pcap_header(kMicroseconds, 1, 1'000'000).pcap_record(1, 2, data);
  CaptureReader allowed = open(long_snap);
  EXPECT_THAT(read_all(allowed), SizeIs(1));
  FileBuilder short_snap;
  short_snap.pcap_header(kMicroseconds, 1, 65535).pcap_record(1, 2, data);
  CaptureReader refused = open(short_snap);
  EXPECT_THAT(read_all(refused), IsEmpty());
  EXPECT_TRUE(refused.error());
}

TEST(Pcap, OlderVersionIsReadByLibpcap) {
  // Before version 2.3 the two lengths of a record were in the opposite order.
  FileBuilder file;
  file.u32(kMicroseconds).u16(2).u16(2).u32(0).u32(0).u32(65535).u32(1);
  file.u32(1).u32(2).u32(60).u32(4).raw("data");
  file.u32(1).u32(3).u32(61).u32(4).raw("more");
  CaptureReader reader = open(file);
  EXPECT_THAT(reader.format(), HasSubstr("libpcap"));
  EXPECT_FALSE(reader.keeps_bytes());
  CaptureRecord record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(text(record.bytes), "data");
  EXPECT_EQ(record.original_length, 60U);
  EXPECT_EQ(record.timestamp_ns, 1'000'002'000);
  EXPECT_EQ(record.file_offset, 24U);
  CaptureReader moved = std::move(reader);
  ASSERT_TRUE(moved.next(record));
  EXPECT_EQ(text(record.bytes), "more");
  EXPECT_EQ(record.file_offset, 44U);
  EXPECT_EQ(record.number, 2U);
  EXPECT_FALSE(moved.next(record));
  EXPECT_FALSE(moved.error());
}

TEST(Pcap, LibpcapSeesACutToo) {
  FileBuilder file;
  file.u32(kMicroseconds).u16(2).u16(2).u32(0).u32(0).u32(65535).u32(1);
  file.u32(1).u32(2).u32(4).u32(4).raw("data").u32(1).u32(2).u32(4).u32(4).raw("da");
  CaptureReader reader = open(file);
  EXPECT_THAT(read_all(reader), SizeIs(1));
  ASSERT_TRUE(reader.error());
  EXPECT_EQ(reader.error()->offset, 44U);
}

TEST(Pcap, RawIpLinkTypeIsTheFilesNumberThroughLibpcapToo) {
  FileBuilder file;
  file.u32(kMicroseconds).u16(2).u16(3).u32(0).u32(0).u32(65535).u32(101);
  EXPECT_EQ(open(file).interfaces()[0].link_type, 101);
}

TEST(Pcap, WhatIsNoCaptureIsRefusedWithItsName) {
  EXPECT_THAT(open_error(FileBuilder()), HasSubstr("test.pcap: byte 0: the file is empty"));
  EXPECT_THAT(open_error(FileBuilder().raw("abc")), HasSubstr("only 3 bytes"));
  EXPECT_THAT(open_error(FileBuilder().raw("#!/bin/sh\necho")), HasSubstr("begins with 23 21 2f 62"));
  FileBuilder header;
  header.pcap_header(kMicroseconds);
  for (std::size_t length = 4; length < 24; ++length) {
    const auto reader = CaptureReader::from_memory(std::span(header.bytes()).first(length));
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message, HasSubstr("24 bytes needed, " + std::to_string(length) + " there"));
  }
}

class PcapFiles : public roce::test::FolderTest {};

TEST_F(PcapFiles, SpansOfAFileInMemoryOutliveTheNextCall) {
  const FileBuilder file =
      std::move(FileBuilder().pcap_header(kMicroseconds).pcap_record(1, 2, "a").pcap_record(1, 2, "b"));
  CaptureReader reader = open(file);
  EXPECT_TRUE(reader.keeps_bytes());
  CaptureRecord first;
  CaptureRecord second;
  ASSERT_TRUE(reader.next(first));
  ASSERT_TRUE(reader.next(second));
  EXPECT_EQ(text(first.bytes), "a");
  EXPECT_EQ(text(second.bytes), "b");
}

TEST_F(PcapFiles, ReaderCanBeMoved) {
  const auto file =
      save("a.pcap", FileBuilder().pcap_header(kMicroseconds).pcap_record(1, 2, "a").pcap_record(1, 2, "b").bytes());
  auto reader = CaptureReader::open(file);
  ASSERT_TRUE(reader);
  CaptureRecord record;
  ASSERT_TRUE(reader->next(record));
  CaptureReader moved = std::move(*reader);
  const auto rest = read_all(moved);
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].data, "b");
}

TEST_F(PcapFiles, FilesThatCannotBeOpenedAreNamed) {
  const auto missing = CaptureReader::open(path("missing.pcap"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("missing.pcap: cannot open: No such file"));
  const auto folder = CaptureReader::open(path("."));
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a directory"));
  const auto empty = CaptureReader::open(save("empty.pcap", ""));
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("the file is empty"));
}

}  // namespace
}  // namespace roce::link::test
