// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>

#include <random>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

using DecodeInputTest = Utf8ProgramTest;

const std::string kCapture = softroce("rc-mix-v4.tx.pcap");

TEST_F(DecodeInputTest, UnreadableFileIsOneLineAndTheOthersAreDone) {
  const Outcome alone = decode({softroce("rc-psn-wrap.tx.pcap")});
  const Outcome run = decode({path("nothing-here"), softroce("rc-psn-wrap.tx.pcap")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err).size(), 1U) << run.err;
  EXPECT_NE(run.err.find(path("nothing-here")), std::string::npos);
  EXPECT_EQ(lines(run.out).size(), lines(alone.out).size());
  EXPECT_EQ(decode({softroce("rc-psn-wrap.tx.pcap"), path("nothing-here")}).exit_code, 1);
}

TEST_F(DecodeInputTest, RubbishIsOneLineAndNoCrash) {
  std::mt19937 random{7};
  std::string bytes(4096, '\0');
  for (char& c : bytes) c = static_cast<char>(random() & 0xFF);
  for (const std::string& file : {save("empty", ""), save("random", bytes), save("short", "\xd4\xc3"), path("")}) {
    SCOPED_TRACE(file);
    const Outcome run = decode({file});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(lines(run.err).size(), 1U) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(DecodeInputTest, RubbishInFrames) {
  std::mt19937 random{11};
  std::vector<std::string> frames;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < 300; ++i) {
    std::string frame = roce::test::kVectors[i % roce::test::kVectors.size()].hex.data();
    for (int j = 0; j < 3; ++j) frame[random() % frame.size()] = kDigits[random() % 16];
    frame.resize(2 * (1 + random() % (frame.size() / 2)));
    frames.push_back(frame);
  }
  const std::string file = save_frames("mutated.pcapng", frames);
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--all", "--explain"}, {"--all", "-v", "--payload"}, {"--all", "--json"}}) {
    std::vector<std::string> arguments = options;
    arguments.push_back(file);
    const Outcome run = decode(arguments);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_GE(lines(run.out).size(), frames.size());
  }
}

TEST_F(DecodeInputTest, CutFileGivesAllWholePacketsAndAnError) {
  const std::string bytes = load(kCapture);
  const std::size_t whole = lines(decode({"--all", kCapture}).out).size();
  const Outcome run = decode({"--all", save("cut.pcap", std::string_view{bytes}.substr(0, bytes.size() - 10))});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.out).size(), whole - 1);
  ASSERT_EQ(lines(run.err).size(), 1U);
  EXPECT_NE(run.err.find("byte "), std::string::npos);
}

TEST_F(DecodeInputTest, StandardInput) {
  const Outcome file = decode({kCapture});
  const Outcome input = decode({"-"}, load(kCapture));
  EXPECT_EQ(input.exit_code, 0);
  EXPECT_EQ(input.out, file.out);
}

TEST_F(DecodeInputTest, ShortenedPacketsAreNotCheckedAndSayWhatIsMissing) {
  auto writer = link::CaptureWriter::create(path("snap.pcapng"));
  ASSERT_TRUE(writer.has_value());
  const std::vector<std::byte> frame = roce::test::from_hex(roce::test::kT4.hex);
  for (const std::size_t captured : {frame.size(), frame.size() - 1, std::size_t{60}, std::size_t{48}}) {
    link::CaptureRecord record;
    record.bytes = std::span{frame}.first(captured);
    record.original_length = static_cast<std::uint32_t>(frame.size());
    record.timestamp_ns = 0;
    ASSERT_TRUE(writer->write(record).has_value());
  }
  ASSERT_TRUE(writer->close().has_value());
  const std::vector<std::string> found = lines(decode({path("snap.pcapng")}).out);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_NE(found[0].find("ICRC good"), std::string::npos);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_NE(found[i].find("ICRC not checked (cut short)"), std::string::npos) << found[i];
    EXPECT_NE(found[i].find("[cut short by the capture"), std::string::npos) << found[i];
    EXPECT_NE(found[i].find("need "), std::string::npos) << found[i];
  }
  EXPECT_NE(found[3].find("BTH"), std::string::npos) << found[3];
  EXPECT_EQ(decode({"--only-bad-icrc", path("snap.pcapng")}).out, "");
}

TEST_F(DecodeInputTest, UnknownLinkTypeIsSaid) {
  link::CaptureWriterOptions options;
  options.interface.link_type = 105;
  auto writer = link::CaptureWriter::create(path("wifi.pcapng"), options);
  ASSERT_TRUE(writer.has_value());
  const std::vector<std::byte> frame = roce::test::from_hex(roce::test::kT1.hex);
  link::CaptureRecord record;
  record.bytes = frame;
  record.timestamp_ns = 0;
  record.link_type = 105;
  ASSERT_TRUE(writer->write(record).has_value());
  ASSERT_TRUE(writer->close().has_value());
  const Outcome run = decode({path("wifi.pcapng")});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("link type 105"), std::string::npos) << run.err;
}

TEST_F(DecodeInputTest, LossesOfTheCaptureAreSaid) {
  auto writer = link::CaptureWriter::create(path("lossy.pcapng"));
  ASSERT_TRUE(writer.has_value());
  const std::vector<std::byte> frame = roce::test::from_hex(roce::test::kT1.hex);
  link::CaptureRecord record;
  record.bytes = frame;
  record.timestamp_ns = 0;
  record.drop_count = 5;
  record.comment = "a remark";
  ASSERT_TRUE(writer->write(record).has_value());
  link::CaptureStatistics statistics;
  statistics.timestamp_ns = 0;
  statistics.dropped_os = 7;
  ASSERT_TRUE(writer->write_statistics(0, statistics).has_value());
  ASSERT_TRUE(writer->close().has_value());
  const Outcome run = decode({path("lossy.pcapng")});
  EXPECT_NE(run.err.find("7 packets by the operating system"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("[the capture lost 5 before]"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\"a remark\""), std::string::npos) << run.out;
}

TEST_F(DecodeInputTest, HexOnTheCommandLineAndStandardInput) {
  const std::string frame{roce::test::kT1.hex};
  const Outcome argument = decode({"--hex", frame});
  EXPECT_EQ(argument.exit_code, 0);
  ASSERT_EQ(lines(argument.out).size(), 1U);
  for (const std::string_view part :
       {"192.0.2.1 → 192.0.2.2", "QP 0x000011", "RC_SEND_ONLY", "PSN 256", "len 66", "ICRC good", "data 5", "AckReq"}) {
    EXPECT_NE(argument.out.find(part), std::string::npos) << part << " in " << argument.out;
  }
  EXPECT_EQ(decode({"--hex"}, frame).out, argument.out);
  EXPECT_EQ(decode({"--hex", "-"}, frame).out, argument.out);
  EXPECT_EQ(decode({"--hex", frame.substr(0, 20), frame.substr(20)}).out, argument.out);
}

TEST_F(DecodeInputTest, HexWithoutTheEthernetHeader) {
  const Outcome run = decode({"--hex", std::string{roce::test::kT1.hex.substr(28)}});
  EXPECT_NE(run.out.find("ICRC good"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("len 52"), std::string::npos) << run.out;
}

TEST_F(DecodeInputTest, HexThatIsNoneIsOneLine) {
  for (const std::string text : {"frame.pcap", "", "02 0", "0x0000: 0200 zz"}) {
    SCOPED_TRACE(text);
    const Outcome run = decode({"--hex"}, text);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(lines(run.err).size(), 1U) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

}  // namespace
}  // namespace roce::analyze::test
