// SPDX-License-Identifier: BSD-2-Clause
// Programs of what captures show that QPs were asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "conform/commands/fuzz_captures.h"
#include "conform/fuzz/capture_programs.h"
#include "conform/fuzz/fuzzer.h"
#include "conform/fuzz/program_text.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/frame_builder.h"
#include "support/source_tree.h"

namespace roce::conform::fuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kBase = 0x7F00'0000'1000;

/// A QP that is asked, packet by packet.
class Peer {
 public:
  explicit Peer(std::uint32_t qpn = 0x11) : qpn_(qpn) {}

  void request(Opcode opcode, std::uint32_t psn, std::uint32_t payload, std::uint32_t length = 0,
               std::uint64_t address = kBase) {
    std::vector<std::byte> bytes(payload + 200);
    FrameBuilder frame{bytes};
    frame.add(Ethernet{.ether_type = EtherType::ipv4})
        .add(Ipv4{.source = Ipv4Address{{10, 0, 0, 1}}, .destination = Ipv4Address{{10, 0, 0, 2}}});
    frame.add(Udp{.source_port = 50000})
        .add(Bth{.opcode = opcode, .dest_qp = Qpn{qpn_}, .ack_req = true, .psn = Psn{psn}});
    for (const HeaderId id : opcode_info(opcode).headers()) {
      if (id == HeaderId::reth) frame.add(Reth{.virtual_address = address, .r_key = RKey{7}, .dma_length = length});
      if (id == HeaderId::atomiceth)
        frame.add(AtomicEth{.virtual_address = address, .r_key = RKey{7}, .swap_or_add = 3});
      if (id == HeaderId::immdt) frame.add(ImmDt{.data = 9});
      if (id == HeaderId::deth) frame.add(Deth{});
      if (id == HeaderId::aeth) frame.add(Aeth{});
    }
    frame.payload(std::vector<std::byte>(payload));
    bytes.resize(frame.finish().value());
    programs_.add(parse_frame(bytes, LinkType::ethernet));
  }

  [[nodiscard]] std::vector<Program> programs() const { return programs_.programs(); }

  /// Returns the requests of the only program.
  [[nodiscard]] std::vector<Request> requests() const {
    std::vector<Request> requests;
    const std::vector<Program> programs = programs_.programs();
    EXPECT_EQ(programs.size(), 1U);
    for (const Action& action : programs.at(0).actions) {
      if (const auto* request = std::get_if<Request>(&action)) requests.push_back(*request);
    }
    return requests;
  }

 private:
  std::uint32_t qpn_;
  CapturePrograms programs_;
};

std::vector<std::int32_t> psns_of(const std::vector<Request>& requests) {
  std::vector<std::int32_t> psns;
  for (const Request& request : requests) psns.push_back(request.psn);
  return psns;
}

TEST(CapturePrograms, KeepThreePacketsOfALongMessage) {
  Peer peer;
  constexpr std::uint32_t length = 5 * 1024 + 100;
  peer.request(Opcode::rc_write_first, 100, 1024, length);
  for (std::uint32_t psn = 101; psn < 105; ++psn) peer.request(Opcode::rc_write_middle, psn, 1024);
  peer.request(Opcode::rc_write_last, 105, 100);
  peer.request(Opcode::rc_write_only, 106, 8, 8);
  const std::vector<Request> requests = peer.requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].length, 2 * 1024 + 100U);
  EXPECT_EQ(requests[1].opcode, Opcode::rc_write_middle);
  EXPECT_EQ(requests[2].opcode, Opcode::rc_write_last);
  EXPECT_EQ(requests[2].payload, 100U);
  EXPECT_THAT(psns_of(requests), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(peer.programs()[0].first_psn, Psn{100});
}

TEST(CapturePrograms, KeepWhatIsSentAgainAndWhatIsBehindAGap) {
  Peer peer;
  peer.request(Opcode::rc_write_only, 0xFF'FFFE, 8, 8);
  peer.request(Opcode::rc_write_only, 0, 8, 8);
  peer.request(Opcode::rc_write_only, 1, 8, 8);
  peer.request(Opcode::rc_write_only, 0xFF'FFFE, 8, 8);
  peer.request(Opcode::rc_write_only, 0xFF'FFFF, 8, 8);
  peer.request(Opcode::rc_write_only, 0, 8, 8);
  EXPECT_THAT(psns_of(peer.requests()), ElementsAre(0, 1, 2, -1, 0, 0));
}

TEST(CapturePrograms, CountTheResponsesOfARead) {
  Peer peer;
  // Nothing but the next PSN says what the path MTU is.
  peer.request(Opcode::rc_read_request, 10, 0, 20 * 256);
  peer.request(Opcode::rc_write_only, 30, 8, 8);
  peer.request(Opcode::rc_read_request, 10, 0, 20 * 256);
  const std::vector<Request> requests = peer.requests();
  EXPECT_EQ(peer.programs()[0].path_mtu, 256U);
  EXPECT_EQ(requests[0].length, 3 * 256U);
  // Three responses and one WRITE came since.
  EXPECT_THAT(psns_of(requests), ElementsAre(0, 0, -4));
}

TEST(CapturePrograms, PlaceRequestsInARegion) {
  Peer peer;
  peer.request(Opcode::rc_write_only, 0, 8, 8, kBase + 16);
  peer.request(Opcode::rc_write_only, 1, 8, 8, kBase);
  peer.request(Opcode::rc_write_only, 2, 8, 8, kBase + 3);
  peer.request(Opcode::rc_write_only, 3, 1024, 1024, kBase + 1'000'003);
  peer.request(Opcode::rc_fetch_add, 4, 0, 0, kBase + 4'000'000'000);
  const std::vector<Request> requests = peer.requests();
  EXPECT_EQ(requests[0].address, 16);
  EXPECT_EQ(requests[1].address, 0);
  EXPECT_EQ(requests[2].address, 3);
  EXPECT_EQ(requests[3].address % 8, 3);
  EXPECT_LE(requests[3].address + 1024, kRegionBytes);
  EXPECT_LE(requests[4].address + 8, kRegionBytes);
  EXPECT_EQ(requests[4].operand, 3U);
}

TEST(CapturePrograms, PostAReceiveForWhatNeedsOne) {
  Peer peer;
  peer.request(Opcode::rc_send_first, 0, 1024);
  peer.request(Opcode::rc_send_last, 1, 5);
  peer.request(Opcode::rc_write_only_imm, 2, 8, 8);
  peer.request(Opcode::rc_write_only, 3, 8, 8);
  std::string kinds;
  const std::vector<Program> programs = peer.programs();
  for (const Action& action : programs.at(0).actions) kinds += std::holds_alternative<Receive>(action) ? 'r' : '.';
  EXPECT_EQ(kinds, "r..r..");
}

TEST(CapturePrograms, KeepOfASendWhatFitsAReceive) {
  Peer peer;
  peer.request(Opcode::rc_send_first, 0, 1024);
  for (std::uint32_t psn = 1; psn < 9; ++psn) peer.request(Opcode::rc_send_middle, psn, 1024);
  peer.request(Opcode::rc_send_last, 9, 1024);
  peer.request(Opcode::rc_send_only, 10, 1);
  const std::vector<Request> requests = peer.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[1].opcode, Opcode::rc_send_last);
  EXPECT_THAT(psns_of(requests), ElementsAre(0, 0, 0));
}

TEST(CapturePrograms, KeepOfMiddlePacketsBehindAGapTheFirst) {
  Peer peer;
  peer.request(Opcode::rc_write_first, 0, 1024, 64 * 1024);
  for (std::uint32_t psn = 1; psn < 10; ++psn) peer.request(Opcode::rc_write_middle, psn, 1024);
  for (std::uint32_t psn = 11; psn < 63; ++psn) peer.request(Opcode::rc_write_middle, psn, 1024);
  for (std::uint32_t psn = 10; psn < 63; ++psn) peer.request(Opcode::rc_write_middle, psn, 1024);
  peer.request(Opcode::rc_write_last, 63, 1024);
  peer.request(Opcode::rc_write_only, 64, 8, 8);
  const std::vector<Request> requests = peer.requests();
  EXPECT_THAT(psns_of(requests), ElementsAre(0, 0, 1, 0, 0));
  EXPECT_EQ(requests[3].opcode, Opcode::rc_write_last);
}

TEST(CapturePrograms, GoOnInARead) {
  Peer peer;
  peer.request(Opcode::rc_read_request, 0, 0, 700, kBase + 7992);
  peer.request(Opcode::rc_write_only, 3, 8, 8);
  peer.request(Opcode::rc_read_request, 1, 0, 700 - 256, kBase + 7992 + 256);
  const std::vector<Request> requests = peer.requests();
  EXPECT_THAT(psns_of(requests), ElementsAre(0, 0, -3));
  EXPECT_EQ(requests[2].length, 700U - 256U);
  EXPECT_EQ(requests[2].address, requests[0].address + 256);
}

TEST(CapturePrograms, HaveAPathMtuThatTheirPayloadFits) {
  Peer peer;
  peer.request(Opcode::rc_write_only, 0, 2000, 2000);
  peer.request(Opcode::rc_write_only, 1, 2000, 2000);
  const std::vector<Request> requests = peer.requests();
  EXPECT_EQ(requests[0].payload, 1024U);
  EXPECT_EQ(requests[0].length, 1024U);
}

TEST(CapturePrograms, LeaveOutMoreThanAMessageMayHave) {
  Peer peer;
  peer.request(Opcode::rc_read_request, 0, 0, 0xFFFF'FFFF);
  EXPECT_THAT(peer.programs(), IsEmpty());
  peer.request(Opcode::rc_read_request, 0, 0, 1U << 31U);
  peer.request(Opcode::rc_write_only, 1U << 21U, 8, 8);
  EXPECT_THAT(psns_of(peer.requests()), ElementsAre(0, 0));
}

TEST(CapturePrograms, BeginAnewBehindAGapOnUc) {
  Peer peer;
  peer.request(Opcode::uc_write_only, 5, 8, 8);
  peer.request(Opcode::uc_write_only, 9, 8, 8);
  peer.request(Opcode::uc_write_only, 10, 8, 8);
  peer.request(Opcode::uc_write_only, 9, 8, 8);
  peer.request(Opcode::uc_write_only, 11, 8, 8);
  EXPECT_EQ(peer.programs().at(0).type, transport::QpType::uc);
  EXPECT_THAT(psns_of(peer.requests()), ElementsAre(0, 3, 0, -2, 1));
}

TEST(CapturePrograms, HavePacketsOfAtMost1024Bytes) {
  Peer peer;
  peer.request(Opcode::rc_write_first, 0, 4096, 4096 + 2000);
  peer.request(Opcode::rc_write_last, 1, 2000);
  const std::vector<Request> requests = peer.requests();
  EXPECT_EQ(peer.programs()[0].path_mtu, 1024U);
  EXPECT_EQ(requests[0].payload, 1024U);
  EXPECT_EQ(requests[0].length, 2048U);
  EXPECT_EQ(requests[1].payload, 1024U);
}

TEST(CapturePrograms, LeaveOutWhatIsNoRequestOfAMessage) {
  Peer peer;
  peer.request(Opcode::rc_acknowledge, 0, 0);
  peer.request(Opcode::rc_send_middle, 0, 1024);
  peer.request(Opcode::rc_send_last, 1, 8);
  EXPECT_THAT(peer.programs(), IsEmpty());
  Peer of_gsi{1};
  of_gsi.request(Opcode::ud_send_only, 0, 256);
  EXPECT_THAT(of_gsi.programs(), IsEmpty());
}

TEST(CapturePrograms, AreNoMoreThanSoManyAndNoLongerThanAProgram) {
  Peer peer;
  for (std::uint32_t psn = 0; psn < 2000; ++psn) peer.request(Opcode::rc_send_only, psn, 8);
  const std::vector<Program> programs = peer.programs();
  EXPECT_EQ(programs.size(), CapturePrograms::kMostOfQp);
  for (const Program& program : programs) {
    EXPECT_LE(program.actions.size(), kMostActions);
    EXPECT_TRUE(std::holds_alternative<Receive>(program.actions.front()));
  }
  EXPECT_EQ(programs[1].first_psn, Psn{kMostActions / 2});
}

// Our endpoint gets the requests that Soft-RoCE got, and answers as the model allows.
TEST(CapturePrograms, OfRealTrafficShowNothingWrongAboutOurEndpoint) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(test::captures_folder() + "/softroce")) {
    const std::string path = entry.path().string();
    if (path.ends_with(".pcap")) paths.push_back(path);
  }
  ASSERT_GT(paths.size(), 30U);
  Fuzzer fuzzer{[](std::uint64_t seed) { return std::make_unique<MemoryTarget>(transport::strict_profile(), seed); },
                {.seed = 1}};
  std::size_t executed = 0;
  for (const std::string& path : paths) {
    const Outcome<std::vector<Program>> programs = programs_of_captures({path});
    ASSERT_TRUE(programs) << programs.error().message;
    for (const Program& program : *programs) {
      const TargetResult<ProgramResult> result = fuzzer.run(program);
      ASSERT_TRUE(result) << result.error();
      EXPECT_FALSE(result->alarm) << path << ": " << result->alarm->what << '\n' << program_text(program);
      executed += result->signatures.size();
    }
  }
  EXPECT_GT(executed, 1000U);
}

TEST(CapturePrograms, LeaveOutRequestsWhoseHeadersWereNotCaptured) {
  std::vector<std::byte> bytes(200);
  FrameBuilder frame{bytes};
  frame.add(Ethernet{.ether_type = EtherType::ipv4}).add(Ipv4{}).add(Udp{.source_port = 50000});
  frame.add(Bth{.opcode = Opcode::rc_write_only, .dest_qp = Qpn{0x11}}).add(Reth{.dma_length = 8});
  frame.payload(std::vector<std::byte>(8));
  bytes.resize(frame.finish().value());
  CapturePrograms whole;
  whole.add(parse_frame(bytes, LinkType::ethernet));
  EXPECT_EQ(whole.programs().size(), 1U);
  CapturePrograms cut;
  constexpr std::size_t up_to_reth = 14 + 20 + 8 + 12;
  cut.add(parse_frame(std::span{bytes}.first(up_to_reth + 4), LinkType::ethernet,
                      static_cast<std::uint32_t>(bytes.size())));
  EXPECT_THAT(cut.programs(), IsEmpty());
}

TEST(CaptureFiles, ThatAreOfNoUseAreNamed) {
  const Outcome<std::vector<Program>> missing = programs_of_captures({"/nonexistent.pcap"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ExitCode::failed);
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent.pcap"));
  const Outcome<std::vector<Program>> rubbish =
      programs_of_captures({test::captures_folder() + "/softroce/ud-mix.truth.json"});
  ASSERT_FALSE(rubbish);
  EXPECT_EQ(rubbish.error().code, ExitCode::failed);
}

}  // namespace
}  // namespace roce::conform::fuzz
