// SPDX-License-Identifier: BSD-2-Clause
// The endpoint's packets, read by tshark: it finds no malformed frame, and each ICRC is right.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "mixed_exchange.h"
#include "roce/link/capture_reader.h"
#include "roce/wire/icrc.h"
#include "sim/matchers.h"
#include "sim/profiles.h"
#include "support/temporary_folder.h"

namespace roce::sim {
namespace {

using transport::WorkOpcode;

/// Returns the lines that tshark prints about a capture.
std::vector<std::string> tshark(const std::string& arguments) {
  const std::string command = "tshark -n --disable-heuristic eth_over_ib " + arguments + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) text += buffer.data();
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TsharkScenario : public ScenarioTest {};

TEST_P(TsharkScenario, NoFrameIsMalformed) {
  if (std::system("tshark --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "tshark is not installed";
  const roce::test::TemporaryFolder folder;
  for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    for (const bool vlan : {false, true}) {
      SCOPED_TRACE(testing::Message() << to_string(version) << (vlan ? ", VLAN" : ""));
      Pair::Options options = mixed_options(profile());
      options.connection.path = {version, vlan};
      options.link.impair = "drop:dir=a_to_b,nth=9; mark_ce:dir=a_to_b,nth=3";
      Pair pair{options};
      const std::string path = folder.path(std::to_string(static_cast<int>(version)) + (vlan ? "v" : "") + ".pcap");
      pair.network.record(path, Tap::received);
      Outcome outcome;
      ASSERT_TRUE(run_mixed(pair, outcome));
      pair.a.post({.opcode = WorkOpcode::write, .length = 50, .r_key = RKey{0x4711}});
      ASSERT_TRUE(pair.network.run_until_idle());
      pair.network.stop_recording();

      std::size_t frames = 0;
      auto reader = link::CaptureReader::open(path);
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      link::CaptureRecord record;
      while (reader->next(record)) {
        ++frames;
        const Packet packet = parse_frame(record.bytes, LinkType::ethernet);
        EXPECT_EQ(packet.problem().reason, ParseReason::none) << record.number;
        EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good) << record.number << ' ' << describe(record.bytes);
      }
      EXPECT_GT(frames, 30U);
      // Payloads of unknown QPs go to heuristic sub-dissectors, which mistake short ones for their own.
      std::string common = "-r '" + path + "'";
      for (const char* guesser : {"smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband.eoib",
                                  "infiniband_sdp", "fcoib"}) {
        common += std::string(" --disable-protocol ") + guesser;
      }
      EXPECT_EQ(tshark(common + " -Y infiniband").size(), frames);
      EXPECT_THAT(tshark(common + " -Y _ws.malformed"), testing::IsEmpty());
      const std::vector<std::string> psns = tshark(common + " -T fields -e infiniband.bth.psn");
      EXPECT_EQ(psns.size(), frames);
    }
  }
}

ROCE_UNDER_EACH_PROFILE(TsharkScenario);

}  // namespace
}  // namespace roce::sim
