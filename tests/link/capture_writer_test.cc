// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/capture_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pcap/pcap.h>

#include "capture_builder.h"
#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kTime = 1'700'000'000'123'456'789;

CaptureRecord record_of(std::string_view data, std::int64_t timestamp_ns = kTime) {
  CaptureRecord record;
  record.bytes = std::as_bytes(std::span(data));
  record.original_length = static_cast<std::uint32_t>(data.size());
  record.timestamp_ns = timestamp_ns;
  return record;
}

class Writing : public roce::test::FolderTest {
 protected:
  CaptureWriter create(const std::string& name, const CaptureWriterOptions& options = {}) {
    auto writer = CaptureWriter::create(path(name), options);
    if (!writer) throw std::runtime_error(writer.error().message);
    return std::move(*writer);
  }
  CaptureReader reopen(const std::string& name) {
    auto reader = CaptureReader::open(path(name));
    if (!reader) throw std::runtime_error(reader.error().message);
    return std::move(*reader);
  }
  static CaptureWriterOptions pcap() {
    CaptureWriterOptions options;
    options.format = CaptureFormat::pcap_ns;
    return options;
  }
};

TEST_F(Writing, LibpcapReadsWhatWasWritten) {
  for (const CaptureFormat format : {CaptureFormat::pcap_ns, CaptureFormat::pcapng}) {
    CaptureWriterOptions options;
    options.format = format;
    options.interface.link_type = 113;
    CaptureWriter writer = create("file", options);
    CaptureRecord first = record_of("hello");
    first.original_length = 1500;
    first.link_type = 113;
    CaptureRecord second = record_of("odd", kTime + 1);
    second.link_type = 113;
    ASSERT_TRUE(writer.write(first));
    ASSERT_TRUE(writer.write(second));
    ASSERT_TRUE(writer.close());

    char error[PCAP_ERRBUF_SIZE] = "";
    pcap_t* pcap = pcap_open_offline_with_tstamp_precision(path("file").c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
    ASSERT_NE(pcap, nullptr) << error;
    EXPECT_EQ(pcap_datalink(pcap), DLT_LINUX_SLL);
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    ASSERT_EQ(pcap_next_ex(pcap, &header, &data), 1);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(data), header->caplen), "hello");
    EXPECT_EQ(header->len, 1500U);
    EXPECT_EQ(header->ts.tv_sec, 1'700'000'000);
    EXPECT_EQ(header->ts.tv_usec, 123'456'789);
    ASSERT_EQ(pcap_next_ex(pcap, &header, &data), 1);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(data), header->caplen), "odd");
    EXPECT_EQ(pcap_next_ex(pcap, &header, &data), PCAP_ERROR_BREAK);
    pcap_close(pcap);
  }
}

TEST_F(Writing, PcapngKeepsEverythingOfARecord) {
  CaptureWriterOptions options;
  options.application = "test";
  options.interface.name = "eth0";
  options.interface.description = "uplink";
  options.interface.filter = "udp";
  options.interface.comment = "why";
  options.interface.snaplen = 2000;
  options.interface.fcs_length = 4;
  CaptureWriter writer = create("file", options);
  CaptureInterface cooked;
  cooked.link_type = 276;
  cooked.name = "any";
  const auto id = writer.add_interface(cooked);
  ASSERT_TRUE(id);
  ASSERT_EQ(*id, 1U);
  CaptureRecord record = record_of("packet");
  record.comment = "a comment";
  record.flags = 2;
  record.drop_count = 17;
  record.original_length = 9000;
  ASSERT_TRUE(writer.write(record));
  CaptureRecord other = record_of("other", 0);
  other.interface_id = 1;
  other.link_type = 276;
  ASSERT_TRUE(writer.write(other));
  ASSERT_TRUE(writer.write(record_of("no time", kNoTimestamp)));
  CaptureStatistics statistics;
  statistics.timestamp_ns = kTime;
  statistics.start_ns = kTime - 1;
  statistics.end_ns = kTime;
  statistics.received = 10;
  statistics.dropped_interface = 1;
  statistics.accepted_by_filter = 9;
  statistics.dropped_os = 2;
  statistics.delivered = 7;
  ASSERT_TRUE(writer.write_statistics(1, statistics));
  ASSERT_TRUE(writer.close());
  ASSERT_TRUE(writer.close());

  CaptureReader reader = reopen("file");
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0], (Record{"packet", kTime, 9000, 0, 1, "a comment", 2, 17}));
  EXPECT_EQ(records[1], (Record{"other", 0, 5, 1, 276, "", std::nullopt, std::nullopt}));
  EXPECT_EQ(records[2], (Record{"no time", kNoTimestamp, 7, 0, 1, "", std::nullopt, std::nullopt}));
  const CaptureInterface& first = reader.interfaces()[0];
  EXPECT_EQ(first.name, "eth0");
  EXPECT_EQ(first.description, "uplink");
  EXPECT_EQ(first.filter, "udp");
  EXPECT_EQ(first.comment, "why");
  EXPECT_EQ(first.snaplen, 2000U);
  EXPECT_EQ(first.fcs_length, 4);
  EXPECT_EQ(reader.interfaces()[1].statistics, statistics);
  EXPECT_EQ(reader.sections()[0].application, "test");
}

TEST_F(Writing, SuffixDecidesTheCompression) {
  for (const auto& [name, magic] :
       {std::pair("a.pcap.gz", "\x1f\x8b"), std::pair("a.pcapng.zst", "\x28\xb5\x2f\xfd")}) {
    CaptureWriter writer = create(name);
    for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(writer.write(record_of(std::string(100, 'x'), kTime + i)));
    ASSERT_TRUE(writer.close());
    EXPECT_TRUE(load(path(name)).starts_with(magic)) << name;
    EXPECT_LT(std::filesystem::file_size(path(name)), 500'000U);
    CaptureReader reader = reopen(name);
    const auto records = read_all(reader);
    ASSERT_THAT(records, SizeIs(20'000));
    EXPECT_EQ(records.back().timestamp_ns, kTime + 19'999);
    EXPECT_TRUE(reader.warnings().empty());
  }
}

TEST_F(Writing, FlushedPacketsCanBeReadBeforeTheFileIsClosed) {
  for (const char* name : {"a.pcapng", "a.pcapng.gz", "a.pcapng.zst"}) {
    CaptureWriter writer = create(name);
    ASSERT_TRUE(writer.write(record_of("early")));
    ASSERT_TRUE(writer.flush());
    CaptureReader reader = reopen(std::string{name} + ".partial");
    EXPECT_THAT(read_all(reader), SizeIs(1)) << name;
    EXPECT_FALSE(std::filesystem::exists(path(name)));
    ASSERT_TRUE(writer.write(record_of("late")));
    ASSERT_TRUE(writer.close());
    CaptureReader again = reopen(name);
    EXPECT_THAT(read_all(again), SizeIs(2)) << name;
    EXPECT_TRUE(again.warnings().empty());
  }
}

TEST_F(Writing, WithoutCloseThereIsNoFile) {
  save("old", "");
  for (const char* name : {"old", "new"}) {
    CaptureWriter writer = create(name);
    ASSERT_TRUE(writer.write(record_of("lost")));
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_EQ(load(path("old")), "");
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  EXPECT_FALSE(std::filesystem::exists(path("old.partial")));
  EXPECT_FALSE(std::filesystem::exists(path("new.partial")));
}

TEST_F(Writing, WhatTheFormatCannotHoldIsRefusedAndNothingWritten) {
  CaptureWriterOptions options = pcap();
  options.interface.snaplen = 10;
  CaptureWriter writer = create("file", options);
  const auto refused = [&](const CaptureRecord& record) {
    const auto status = writer.write(record);
    return status ? "written" : status.error().message;
  };
  CaptureRecord wrong_link = record_of("x");
  wrong_link.link_type = 276;
  EXPECT_THAT(refused(wrong_link), HasSubstr("link type 276 on interface 0 of link type 1"));
  EXPECT_THAT(refused(record_of("eleven byte")), HasSubstr("11 bytes, longer than the snaplen 10"));
  EXPECT_THAT(refused(record_of("x", -1)), HasSubstr("before 1970"));
  EXPECT_THAT(refused(record_of("x", 4'294'967'296'000'000'000)), HasSubstr("after 2106"));
  EXPECT_FALSE(writer.add_interface({}));
  EXPECT_FALSE(writer.write_statistics(0, {}));
  ASSERT_TRUE(writer.write(record_of("good")));
  ASSERT_TRUE(writer.close());
  EXPECT_FALSE(writer.write(record_of("late")));
  CaptureReader reader = reopen("file");
  EXPECT_THAT(read_all(reader), SizeIs(1));
}

TEST_F(Writing, PcapngRefusesUnknownInterfacesAndEndlessComments) {
  CaptureWriter writer = create("file");
  CaptureRecord record = record_of("x");
  record.interface_id = 1;
  EXPECT_FALSE(writer.write(record));
  EXPECT_FALSE(writer.write_statistics(1, {}));
  record.interface_id = 0;
  const std::string comment(65536, 'c');
  record.comment = comment;
  EXPECT_FALSE(writer.write(record));
  record.comment = std::string_view(comment).substr(1);
  EXPECT_TRUE(writer.write(record));
  ASSERT_TRUE(writer.close());
  CaptureReader reader = reopen("file");
  const auto records = read_all(reader);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].comment, SizeIs(65535));
}

TEST_F(Writing, FullDiskIsAnError) {
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    CaptureWriterOptions options;
    options.compression = compression;
    auto writer = CaptureWriter::create("/dev/full", options);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(record_of("lost")));
    const auto flushed = writer->flush();
    ASSERT_FALSE(flushed);
    EXPECT_THAT(flushed.error().message, HasSubstr("/dev/full: cannot write: No space left"));
    EXPECT_FALSE(writer->write(record_of("more")));
    EXPECT_FALSE(writer->close());
  }
}

TEST_F(Writing, FullDiskIsAnErrorWithoutFlushToo) {
  auto writer = CaptureWriter::create("/dev/full");
  ASSERT_TRUE(writer);
  EXPECT_FALSE(writer->close());
}

TEST_F(Writing, FolderThatDoesNotExistIsNamed) {
  const auto writer = CaptureWriter::create(path("no/such/file.pcap"));
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message, HasSubstr("no/such/file.pcap: cannot create: No such file"));
}

}  // namespace
}  // namespace roce::link::test
