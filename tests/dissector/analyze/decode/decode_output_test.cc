// SPDX-License-Identifier: BSD-2-Clause
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/udp.h"
#include "support/source_tree.h"
#include "text/text_buffer.h"

namespace roce::analyze::test {
namespace {

using DecodeOutputTest = Utf8ProgramTest;

std::vector<std::string> hex_of(std::initializer_list<roce::test::Vector> vectors) {
  std::vector<std::string> frames;
  for (const roce::test::Vector& vector : vectors) frames.emplace_back(vector.hex);
  return frames;
}

/// Starts `roce-analyze decode -` with the files that `actions` gives it, and destroys `actions`. Returns 0 when it
/// could not be started.
pid_t start_decode_of_stdin(posix_spawn_file_actions_t& actions) {
  std::string program = ROCE_ANALYZE;
  std::string command = "decode";
  std::string file = "-";
  std::array<char*, 4> argv{program.data(), command.data(), file.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, ROCE_ANALYZE, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : 0;
}

TEST_F(DecodeOutputTest, Ipv4AddressesOfTheRdmaCmAreShownAsSuch) {
  const std::string file = softroce("cm-rping.tx.pcap");
  const std::string request = lines(decode({file}).out).front();
  EXPECT_NE(request.find("source_address 10.77.0.3  destination_address 10.77.0.2"), std::string::npos) << request;
  const std::string fields = decode({"-v", file}).out;
  EXPECT_NE(fields.find("cma.source_address             ::a4d:3 (10.77.0.3)"), std::string::npos);
  const std::string ipv6 = lines(decode({softroce("cm-rping-v6.tx.pcap")}).out).front();
  EXPECT_NE(ipv6.find("source_address fd77::3"), std::string::npos) << ipv6;
}

TEST_F(DecodeOutputTest, LinesOfKnownPackets) {
  using namespace roce::test;
  const std::string file = save_frames("known.pcapng", hex_of({kT1, kT2, kT3, kT4, kC1, kC2, kC3}));
  const std::vector<std::string> found = lines(decode({file}).out);
  ASSERT_EQ(found.size(), 7U);
  EXPECT_EQ(found[0],
            "     1    0.000000000  192.0.2.1 → 192.0.2.2  QP 0x000011  RC_SEND_ONLY           PSN 256       len 66    "
            "ICRC good  data 5  AckReq");
  const std::vector<std::vector<std::string>> parts{
      {},
      {"192.0.2.2 → 192.0.2.1", "QP 0x000012", "RC_ACKNOWLEDGE", "PSN 256", "len 62", "  ACK MSN 1"},
      {"2001:db8::1 → 2001:db8::2", "RC_WRITE_ONLY", "va 0x00007f0012345678 rkey 0x00001a2b dma 4", "data 4"},
      {"RC_READ_REQUEST", "PSN 257", "rkey 0x00001a2b dma 4096", "VLAN 100 priority 3"},
      {"10.0.17.1 → 10.0.18.1", "QP 0x000118", "CNP", "BECN"},
      {"RC_WRITE_ONLY", "data 5", "RoCEv1"},
      {"RC_ACKNOWLEDGE", "  ACK credits=0 MSN 5", "RoCEv1"}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NE(found[i].find("ICRC good"), std::string::npos) << found[i];
    for (const std::string& part : parts[i])
      EXPECT_NE(found[i].find(part), std::string::npos) << part << "\n" << found[i];
  }
}

TEST_F(DecodeOutputTest, LinesAreAsciiWhereTheLocaleIs) {
  setenv("LC_ALL", "C", 1);
  const std::string file = save_frames("known.pcapng", hex_of({roce::test::kT1}));
  EXPECT_NE(decode({file}).out.find("192.0.2.1 -> 192.0.2.2  QP"), std::string::npos);
}

TEST_F(DecodeOutputTest, LinkControlIsShownAndOtherFramesOnRequest) {
  const std::string file =
      save_frames("control.pcapng", {std::string{kArp}, std::string{kPfc}, std::string{kPause}, std::string{kLldp}});
  const std::vector<std::string> found = lines(decode({file}).out);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0].starts_with("     2 ")) << "numbered as in the file: " << found[0];
  EXPECT_NE(found[0].find("PFC"), std::string::npos);
  EXPECT_NE(found[0].find("priority 3 pause 65535 quanta  priority 4 resume"), std::string::npos) << found[0];
  EXPECT_NE(found[1].find("pause 255 quanta"), std::string::npos) << found[1];
  EXPECT_NE(found[2].find("LLDP"), std::string::npos) << found[2];
  EXPECT_NE(found[2].find("UDP port 4791 priority 3"), std::string::npos) << found[2];
  const std::vector<std::string> all = lines(decode({"--all", file}).out);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_NE(all[0].find("other"), std::string::npos) << all[0];
  EXPECT_NE(all[0].find("ARP"), std::string::npos) << all[0];
}

/// Returns T1 with a second packet behind its ICRC, as segmentation offload shows it; xors `change` into the last byte.
std::string super_frame(std::uint8_t change) {
  std::vector<std::byte> bytes = roce::test::from_hex(roce::test::kT1.hex);
  const Packet first = parse_frame(bytes, LinkType::ethernet);
  std::vector<std::byte> second(bytes.begin() + first.bth_offset(), bytes.begin() + first.icrc_offset());
  FieldOf<&Bth::psn>::set(second.data(), Psn{257});
  NetMeta net = first.net();
  net.ip_id = static_cast<std::uint16_t>(*net.ip_id + 1);
  const std::uint32_t icrc = compute_icrc(second, net);
  for (unsigned i = 0; i < 4; ++i) second.push_back(static_cast<std::byte>(icrc >> 8 * i & 0xFF));
  second.back() ^= std::byte{change};
  const auto size = static_cast<std::uint16_t>(second.size());
  const std::size_t ip = first.find(HeaderId::ipv4)->offset;
  const std::size_t udp = first.find(HeaderId::udp)->offset;
  const auto grow = [&]<typename Length>(Length, std::byte* header) {
    Length::set(header, static_cast<std::uint16_t>(Length::get(header) + size));
  };
  grow(FieldOf<&Ipv4::total_length>{}, bytes.data() + ip);
  grow(FieldOf<&Udp::length>{}, bytes.data() + udp);
  bytes.insert(bytes.end(), second.begin(), second.end());
  text::TextBuffer text;
  text::append_hex(text, bytes);
  return fmt::to_string(text);
}

TEST_F(DecodeOutputTest, PacketsOfASuperFrameAreLinesOfTheirOwn) {
  const std::string file = save_frames("super.pcapng", {std::string{roce::test::kT2.hex}, super_frame(0)});
  const Outcome run = decode({"--summary", file});
  const std::vector<std::string> found = lines(run.out);
  ASSERT_EQ(found.size(), 3U) << run.out;
  EXPECT_TRUE(found[1].starts_with("     2.1 ")) << found[1];
  EXPECT_TRUE(found[2].starts_with("     2.2 ")) << found[2];
  EXPECT_NE(found[1].find("192.0.2.1 → 192.0.2.2"), std::string::npos) << found[1];
  EXPECT_NE(found[1].find("PSN 256 "), std::string::npos) << found[1];
  EXPECT_NE(found[2].find("PSN 257 "), std::string::npos) << found[2];
  for (const std::string& line : found) EXPECT_NE(line.find("ICRC good"), std::string::npos) << line;
  EXPECT_NE(run.err.find("2 frames, 3 RoCE packets; ICRC: 3 good, 0 bad"), std::string::npos) << run.err;
  EXPECT_EQ(decode({"--only-bad-icrc", file}).out, "");

  const std::vector<std::string> json = lines(decode({"--json", file}).out);
  ASSERT_EQ(json.size(), 3U);
  const auto second = nlohmann::json::parse(json[2]);
  EXPECT_EQ(second["frame"]["segment"], 2);
  EXPECT_EQ(second["frame"]["segments"], 2);
  EXPECT_EQ(second["ip"]["src"], "192.0.2.1");
  EXPECT_EQ(second["bth"]["psn"], 257);
  EXPECT_EQ(second["payload"]["offset"], 78);
  EXPECT_NE(decode({"-v", file}).out.find("\n        75  bth.psn                        257  "), std::string::npos);

  const std::string damaged = save_frames("damaged.pcapng", {super_frame(1)});
  const Outcome bad = decode({"--only-bad-icrc", damaged});
  ASSERT_EQ(lines(bad.out).size(), 1U) << bad.out;
  EXPECT_TRUE(bad.out.starts_with("     1.2 ")) << bad.out;
}

TEST_F(DecodeOutputTest, TimeStyles) {
  const std::string file = save_frames("time.pcapng", hex_of({roce::test::kT1, roce::test::kT2}));
  EXPECT_NE(lines(decode({file}).out)[1].find(" 0.000001000 "), std::string::npos);
  EXPECT_NE(decode({"--time", "epoch", file}).out.find(" 1795213331.000001000 "), std::string::npos);
  EXPECT_NE(decode({"--time", "utc", file}).out.find(" 2026-11-20T22:22:11.000001000Z "), std::string::npos);
  EXPECT_EQ(decode({"--time", "never", file}).exit_code, 2);
}

TEST_F(DecodeOutputTest, SeveralFilesAreNamedOnEachLine) {
  const std::string one = save_frames("one.pcapng", hex_of({roce::test::kT1}));
  const std::string two = save_frames("two.pcapng", hex_of({roce::test::kT2}));
  const std::vector<std::string> found = lines(decode({one, two}).out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].starts_with(one + ": "));
  EXPECT_TRUE(found[1].starts_with(two + ": "));
}

TEST_F(DecodeOutputTest, ColourOnlyWhenAsked) {
  const std::string file = softroce("rc-corrupt.rx.pcap");
  EXPECT_EQ(decode({file}).out.find('\033'), std::string::npos);
  EXPECT_EQ(decode({"--color=never", file}).out.find('\033'), std::string::npos);
  EXPECT_NE(decode({"--color=always", file}).out.find('\033'), std::string::npos);
  EXPECT_NE(decode({"--colour=always", "-v", file}).out.find('\033'), std::string::npos);
}

TEST_F(DecodeOutputTest, ControlCharactersOfAFileStayOutOfTheTerminal) {
  auto writer = link::CaptureWriter::create(path("evil.pcapng"));
  ASSERT_TRUE(writer.has_value());
  const std::vector<std::byte> frame = roce::test::from_hex(roce::test::kT1.hex);
  link::CaptureRecord record;
  record.bytes = frame;
  record.timestamp_ns = 0;
  record.comment = "\033]0;title\007\n\xff";
  ASSERT_TRUE(writer->write(record).has_value());
  ASSERT_TRUE(writer->close().has_value());
  for (const std::string option : {"--all", "-v", "--json"}) {
    const Outcome run = decode({option, path("evil.pcapng")});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.out.find('\033'), std::string::npos) << option;
    EXPECT_EQ(run.out.find('\007'), std::string::npos) << option;
  }
  EXPECT_EQ(lines(decode({path("evil.pcapng")}).out).size(), 1U);
}

TEST_F(DecodeOutputTest, FullDiskIsReported) {
  const Outcome run = decode({softroce("rc-mix-v4.tx.pcap")}, {}, "/dev/full");
  EXPECT_EQ(run.exit_code, 1);
  ASSERT_EQ(lines(run.err).size(), 1U);
  EXPECT_NE(run.err.find("No space left"), std::string::npos) << run.err;
}

TEST_F(DecodeOutputTest, ReaderThatGoesAwayEndsItQuietly) {
  // A fifo whose reading end is closed once the program has it open: every write after that fails.
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int keeper = open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(keeper, 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, fifo.c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, path("errors").c_str(), O_WRONLY | O_CREAT, 0600);
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe2(pipe_ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[0], STDIN_FILENO);
  const pid_t child = start_decode_of_stdin(actions);
  ASSERT_NE(child, 0);
  close(pipe_ends[0]);
  close(keeper);
  // There is nothing to decode before this.
  const std::string bytes = load(softroce("cm-ucmatose.tx.pcap"));
  ASSERT_EQ(::write(pipe_ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(pipe_ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(load(path("errors")), "");
}

TEST_F(DecodeOutputTest, LiveInputIsShownAsItComes) {
  std::array<int, 2> to_program{};
  std::array<int, 2> from_program{};
  ASSERT_EQ(pipe2(to_program.data(), O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(from_program.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_program[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_program[1], STDOUT_FILENO);
  const pid_t child = start_decode_of_stdin(actions);
  ASSERT_NE(child, 0);
  close(from_program[1]);
  const std::string bytes = load(save_frames("live.pcapng", hex_of({roce::test::kT1, roce::test::kT2})));
  ASSERT_EQ(::write(to_program[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  // The input stays open: without a flush this read would wait forever.
  std::string text;
  std::array<char, 4096> block{};
  while (lines(text).size() < 2) {
    const ssize_t size = ::read(from_program[0], block.data(), block.size());
    ASSERT_GT(size, 0);
    text.append(block.data(), static_cast<std::size_t>(size));
  }
  EXPECT_NE(text.find("RC_ACKNOWLEDGE"), std::string::npos);
  close(to_program[1]);
  close(from_program[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(to_program[0]);
}

TEST_F(DecodeOutputTest, WrongCommandLineIsExitCodeTwo) {
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"frobnicate"}).exit_code, 2);
  EXPECT_EQ(decode({}).exit_code, 2);
  EXPECT_EQ(decode({"--no-such-option", "x"}).exit_code, 2);
  EXPECT_EQ(decode({"--json", "-v", "x"}).exit_code, 2);
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--qp", "0x1000000"}, {"--opcode", "RC_NOTHING"}, {"--address", "300.1.1.1"}, {"--from", "soon"}}) {
    const Outcome run = decode({wrong[0], wrong[1], softroce("rc-mix-v4.tx.pcap")});
    EXPECT_EQ(run.exit_code, 2) << wrong[0];
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(wrong[0]), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(wrong[1]), std::string::npos) << run.err;
  }
}

TEST_F(DecodeOutputTest, HelpNamesEveryOption) {
  const Outcome help = decode({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  const std::string manual = load(roce::test::source_folder() + "/docs/man/roce-analyze.1");
  for (const std::string option : {"verbose", "json", "payload", "only-bad-icrc", "explain", "all", "qp", "opcode",
                                   "address", "src", "dst", "from", "to", "time", "color", "summary", "hex"}) {
    EXPECT_NE(help.out.find("--" + option), std::string::npos) << option;
    std::string escaped = "\\-\\-";
    for (const char c : option) escaped += c == '-' ? std::string{"\\-"} : std::string{c};
    EXPECT_NE(manual.find(escaped), std::string::npos) << "the manual page lacks " << option;
  }
  EXPECT_EQ(run({"--version"}).exit_code, 0);
}

}  // namespace
}  // namespace roce::analyze::test
