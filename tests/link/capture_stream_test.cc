// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <thread>

#include "capture_builder.h"
#include "roce/link/capture_writer.h"
#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Buffer = std::vector<std::byte>;

Buffer gzip(std::span<const std::byte> plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Buffer out(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Buffer zstd(std::span<const std::byte> plain) {
  Buffer out(ZSTD_compressBound(plain.size()));
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), plain.data(), plain.size()));
  ZSTD_freeCCtx(context);
  return out;
}

FileBuilder sample(std::size_t packets) {
  FileBuilder file;
  file.pcap_header(0xA1B23C4D);
  for (std::size_t i = 0; i < packets; ++i) {
    file.pcap_record(static_cast<std::uint32_t>(i), 0, std::string(i % 1500, static_cast<char>('a' + i % 26)));
  }
  return file;
}

class Compressed : public ::testing::TestWithParam<std::string> {
 protected:
  static Buffer compress(std::span<const std::byte> plain) { return GetParam() == "Gzip" ? gzip(plain) : zstd(plain); }
};
INSTANTIATE_TEST_SUITE_P(All, Compressed, ::testing::Values("Gzip", "Zstd"),
                         [](const auto& variant) { return variant.param; });

TEST_P(Compressed, SameRecordsAsPlain) {
  const FileBuilder file = sample(5000);
  const Buffer compressed = compress(file.bytes());
  auto plain = CaptureReader::from_memory(file.bytes());
  auto reader = CaptureReader::from_memory(compressed);
  ASSERT_TRUE(plain);
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->keeps_bytes());
  const auto records = read_all(*reader);
  ASSERT_THAT(records, SizeIs(5000));
  EXPECT_EQ(records, read_all(*plain));
  EXPECT_FALSE(reader->error());
  EXPECT_THAT(reader->warnings(), IsEmpty());
  EXPECT_EQ(reader->position_bytes(), compressed.size());
}

TEST_P(Compressed, OffsetsAreThoseOfTheDecompressedFile) {
  const FileBuilder file = sample(5000);
  const Buffer compressed = compress(file.bytes());
  auto plain = CaptureReader::from_memory(file.bytes());
  auto reader = CaptureReader::from_memory(compressed);
  CaptureRecord expected;
  CaptureRecord record;
  while (plain->next(expected)) {
    ASSERT_TRUE(reader->next(record));
    ASSERT_EQ(record.file_offset, expected.file_offset);
    ASSERT_EQ(record.number, expected.number);
  }
}

TEST_P(Compressed, SeveralMembersAreOneFile) {
  const FileBuilder file = sample(500);
  const auto whole = std::span(file.bytes());
  Buffer compressed = compress(whole.first(1000));
  const Buffer rest = compress(whole.subspan(1000));
  compressed.insert(compressed.end(), rest.begin(), rest.end());
  auto reader = CaptureReader::from_memory(compressed);
  ASSERT_TRUE(reader);
  EXPECT_THAT(read_all(*reader), SizeIs(500));
  EXPECT_THAT(reader->warnings(), IsEmpty());
}

TEST_P(Compressed, EveryPrefixEndsWithAnError) {
  const FileBuilder file = sample(20);
  const Buffer compressed = compress(file.bytes());
  auto whole_reader = CaptureReader::from_memory(compressed);
  const auto whole = read_all(*whole_reader);
  for (std::size_t length = 0; length < compressed.size(); ++length) {
    auto reader = CaptureReader::from_memory(std::span(compressed).first(length));
    if (!reader) continue;
    const auto records = read_all(*reader);
    EXPECT_TRUE(std::equal(records.begin(), records.end(), whole.begin())) << length;
    ASSERT_TRUE(reader->error()) << length;
    // If it ends in the middle of a record, there are a warning and an error.
    const std::string& said = reader->warnings().empty() ? reader->error()->message : reader->warnings().back().message;
    EXPECT_THAT(said, HasSubstr("compressed data ends early")) << length;
  }
}

TEST_P(Compressed, WhatFollowsTheCompressedDataIsAWarning) {
  Buffer compressed = compress(sample(20).bytes());
  for (const char c : std::string_view("garbage behind")) compressed.push_back(static_cast<std::byte>(c));
  auto reader = CaptureReader::from_memory(compressed);
  ASSERT_TRUE(reader);
  EXPECT_THAT(read_all(*reader), SizeIs(20));
  EXPECT_FALSE(reader->error());
  ASSERT_THAT(reader->warnings(), SizeIs(1));
  EXPECT_THAT(reader->warnings()[0].message, HasSubstr("not compressed data"));
}

TEST_P(Compressed, DamagedDataIsAnErrorAfterTheRecordsBefore) {
  Buffer compressed = compress(sample(5000).bytes());
  // The last four bytes are a check value of all data.
  for (std::size_t i = 1; i <= 4; ++i) compressed[compressed.size() - i] ^= std::byte{0xFF};
  auto reader = CaptureReader::from_memory(compressed);
  ASSERT_TRUE(reader);
  EXPECT_THAT(read_all(*reader), SizeIs(5000));
  ASSERT_TRUE(reader->error());
  EXPECT_THAT(reader->error()->message, HasSubstr("at compressed byte"));
}

TEST_P(Compressed, CompressedNonsenseIsRefused) {
  const std::string nonsense = "this is no capture file at all";
  const auto reader = CaptureReader::from_memory(compress(std::as_bytes(std::span(nonsense))));
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("begins with 74 68 69 73"));
}

// A long run of zeros is compressed a thousandfold; the reader must not allocate an absurd length before the data come.
TEST_P(Compressed, HugeUnknownBlockIsSkippedInBoundedMemory) {
  FileBuilder file;
  constexpr std::size_t kLength = 64 << 20;
  file.section().interface().block(0x0BAD, file.body().raw(std::string(kLength, '\0'))).enhanced(0, 1, "after");
  const Buffer compressed = compress(file.bytes());
  ASSERT_LT(compressed.size(), kLength / 100);
  auto reader = CaptureReader::from_memory(compressed);
  ASSERT_TRUE(reader);
  const auto records = read_all(*reader);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].data, "after");
}

// Standard input replaced by the reading end of a pipe for one test.
class StandardInput : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    saved_ = dup(STDIN_FILENO);
    ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ::close(ends[0]);
    writing_ = ends[1];
  }
  void TearDown() override {
    finish();
    if (saved_ >= 0) {
      dup2(saved_, STDIN_FILENO);
      ::close(saved_);
    } else {
      ::close(STDIN_FILENO);
    }
  }
  void send(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(writing_, bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void finish() {
    if (writing_ >= 0) ::close(writing_);
    writing_ = -1;
  }

 private:
  int saved_ = -1;
  int writing_ = -1;
};

// The pipe stays open: a reader that waited for more than the packet would never return.
TEST_F(StandardInput, PacketsComeThroughAsTheyAreWritten) {
  send(FileBuilder().pcap_header(0xA1B23C4D).bytes());
  auto reader = CaptureReader::open("-");
  ASSERT_TRUE(reader);
  CaptureRecord record;
  for (const std::string_view data : {"one", "two", "three"}) {
    send(FileBuilder().pcap_record(1, 2, data).bytes());
    ASSERT_TRUE(reader->next(record));
    EXPECT_EQ(text(record.bytes), data);
  }
  finish();
  EXPECT_FALSE(reader->next(record));
  EXPECT_THAT(reader->warnings(), IsEmpty());
  EXPECT_EQ(reader->size_bytes(), 0U);
}

TEST_F(StandardInput, PcapngComesThroughAsItIsWritten) {
  send(FileBuilder().section().bytes());
  auto reader = CaptureReader::open("-");
  ASSERT_TRUE(reader);
  send(FileBuilder().interface().bytes());
  CaptureRecord record;
  for (const std::string_view data : {"one", "two", "three"}) {
    send(FileBuilder().enhanced(0, 5, data).bytes());
    ASSERT_TRUE(reader->next(record));
    EXPECT_EQ(text(record.bytes), data);
  }
}

TEST_F(StandardInput, FlushedCompressedPacketsComeThroughAtOnce) {
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  const auto send_compressed = [&](const FileBuilder& part) {
    Buffer out(1000);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.bytes().data()));
    stream.avail_in = static_cast<uInt>(part.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ASSERT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    send(std::span(out).first(out.size() - stream.avail_out));
  };
  send_compressed(FileBuilder().pcap_header(0xA1B23C4D));
  auto reader = CaptureReader::open("-");
  ASSERT_TRUE(reader);
  CaptureRecord record;
  for (const std::string_view data : {"one", "two", "three"}) {
    send_compressed(FileBuilder().pcap_record(1, 2, data));
    ASSERT_TRUE(reader->next(record));
    EXPECT_EQ(text(record.bytes), data);
  }
  deflateEnd(&stream);
}

// Much more than the pipe or the window holds, in pieces that split headers.
TEST_F(StandardInput, LongStreamInOddPieces) {
  const FileBuilder file = sample(5000);
  std::thread writer([&] {
    auto rest = std::span(file.bytes());
    for (std::size_t piece = 1; !rest.empty(); piece = piece * 7 % 4093 + 1) {
      const std::size_t count = std::min(piece, rest.size());
      send(rest.first(count));
      rest = rest.subspan(count);
    }
    finish();
  });
  auto reader = CaptureReader::open("-");
  const auto records = reader ? read_all(*reader) : std::vector<Record>{};
  writer.join();
  auto plain = CaptureReader::from_memory(file.bytes());
  EXPECT_EQ(records, read_all(*plain));
}

TEST_F(StandardInput, RecordsLongerThanTheWindow) {
  const std::string large(3'000'000, 'x');
  FileBuilder file;
  file.pcap_header(0xA1B2C3D4, 1, 4'000'000).pcap_record(1, 1, "a").pcap_record(1, 2, large).pcap_record(1, 3, "b");
  std::thread writer([&] {
    send(file.bytes());
    finish();
  });
  auto reader = CaptureReader::open("-");
  const auto records = reader ? read_all(*reader) : std::vector<Record>{};
  writer.join();
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[1].data, large);
  EXPECT_EQ(records[2].data, "b");
}

TEST_F(StandardInput, EmptyPipeIsNamed) {
  finish();
  const auto reader = CaptureReader::open("-");
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("(standard input): byte 0: the file is empty"));
}

TEST_F(StandardInput, LibpcapReadsPipesToo) {
  FileBuilder file;
  file.u32(0xA1B2C3D4).u16(2).u16(3).u32(0).u32(0).u32(65535).u32(1).u32(1).u32(2).u32(4).u32(4).raw("data");
  send(file.bytes());
  finish();
  auto reader = CaptureReader::open("-");
  ASSERT_TRUE(reader);
  const auto records = read_all(*reader);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].data, "data");
}

class CompressedFiles : public roce::test::FolderTest {};

TEST_F(CompressedFiles, ContentDecidesAndNotTheName) {
  const FileBuilder file = sample(50);
  for (const auto& name :
       {save("a.pcap", gzip(file.bytes())), save("b.gz", zstd(file.bytes())), save("c.zst", file.bytes())}) {
    auto reader = CaptureReader::open(name);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_THAT(read_all(*reader), SizeIs(50)) << name;
    EXPECT_EQ(reader->size_bytes(), std::filesystem::file_size(name));
    EXPECT_EQ(reader->position_bytes(), reader->size_bytes());
  }
}

}  // namespace
}  // namespace roce::link::test
