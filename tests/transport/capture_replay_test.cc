// SPDX-License-Identifier: BSD-2-Clause
// Our responder gets the requests that Soft-RoCE's responders got in captures of real traffic, and has to answer as
// they did: opcode, PSN, syndrome, MSN, payload length, the value that an atomic returns. On every QP whose program
// reported its receives, it has to receive the same. The data of READs are not compared.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string_view>

#include "replay_comparison.h"

namespace roce::test {

void PrintTo(const Deviation& deviation, std::ostream* out) {
  *out << describe(deviation);
}
void PrintTo(const ReplayTotals& totals, std::ostream* out) {
  *out << describe(totals);
}

namespace {

using transport::CompletionStatus;
using transport::Profile;

/// A deviation that is correct.
struct Known {
  Deviation deviation;
  std::string_view why;
};

constexpr std::string_view kStartThatEnds =
    "Soft-RoCE drops the START that ends an interrupted SEND; it opens the next message";
constexpr std::string_view kStartThatReveals =
    "Soft-RoCE drops the START that reveals a loss; it opens the next message";
constexpr std::string_view kStuckInWrite =
    "Soft-RoCE never leaves a plain WRITE interrupted by packet 60, and loses all that follows";

/// The complete list. Lost and damaged packets do not need an entry: the responder is fed the packets that arrived.
const std::vector<Known>& known_deviations() {
  static const std::vector<Known> list{
      {{"uc-drop", 26, true, "status 0 receive length 1500 immediate 0xe11f892d"}, kStartThatEnds},
      {{"uc-drop", 56, true, "status 0 receive length 3000"}, kStartThatReveals},
      {{"uc-drop", 65, true, "status 0 write length 3000 immediate 0x6276eaec"}, kStartThatReveals},
      {{"uc-drop", 66, true, "status 0 receive length 8 immediate 0x47c784e2"}, kStuckInWrite},
      {{"uc-drop", 77, true, "status 0 receive length 3000"}, kStuckInWrite},
      {{"uc-drop", 86, true, "status 0 write length 1500 immediate 0x6ed58a9"}, kStuckInWrite},
      {{"uc-drop", 91, true, "status 0 receive length 1500"}, kStuckInWrite},
      {{"uc-drop", 94, true, "status 0 receive length 1500 immediate 0x31df07ef"}, kStuckInWrite},
  };
  return list;
}

std::vector<Deviation> known_of(const std::string& capture) {
  std::vector<Deviation> list;
  for (const Known& known : known_deviations()) {
    if (known.deviation.capture == capture) list.push_back(known.deviation);
  }
  return list;
}

class CaptureReplay : public testing::TestWithParam<std::string> {};

TEST_P(CaptureReplay, AnswersAndReceivesAsTheRealResponderDid) {
  const ReplayResult result = replay(GetParam());
  EXPECT_GT(result.totals.requests, 0U);
  EXPECT_THAT(result.deviations, testing::ElementsAreArray(known_of(GetParam()))) << describe(result.totals);
}

INSTANTIATE_TEST_SUITE_P(SoftRoce, CaptureReplay, testing::ValuesIn(capture_names()), [](const auto& of) {
  std::string name = of.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(CaptureReplayTotals, EverythingInTheCapturesIsCompared) {
  ReplayTotals totals;
  for (const std::string& capture : capture_names()) totals += replay(capture).totals;
  fmt::print("{}\n", describe(totals));
  // The truth files count the answers by opcode; host-peer does not have one, and has 20 ACKs of Soft-RoCE. In total
  // 653 acknowledges, 201 atomics, 65 READ responses LAST and 42 ONLY.
  const ReplayTotals expected{.connections = 56,
                              .requests = 2015,
                              .duplicates = 151,
                              .corrupt = 15,
                              .answers = 1155,
                              .acks = 553,
                              .atomics = 201,
                              .reads = 107,
                              .sequence_naks = 62,
                              .access_naks = 7,
                              .operational_naks = 2,
                              .rnr_naks = 29,
                              .receipts = 365};
  EXPECT_EQ(totals, expected);
}

/// A point in which Soft-RoCE is known to differ from the specification or from RNICs, according to its profile.
/// Each is switched back here, to see in which captures it shows.
struct Quirk {
  std::string_view what;
  void (*without)(Profile&);
  std::set<std::string> captures;
};

const std::vector<Quirk>& quirks() {
  static const std::vector<Quirk> list{
      {"requests behind an RNR NAK get a PSN sequence NAK", [](Profile& p) { p.nak_behind_rnr = false; }, {"rc-rnr"}},
      {"duplicates are acknowledged without AckReq",
       [](Profile& p) { p.duplicate_acks_always = false; },
       {"pp-rc-drop", "rc-corrupt", "rc-duplicate", "rc-psn-wrap", "rc-reorder"}},
      {"a READ repeated from its middle goes on with MIDDLE or LAST",
       [](Profile& p) { p.read_resumes_in_middle = false; },
       {"rc-corrupt", "rc-drop-read-middle", "rc-psn-wrap", "rc-reorder"}},
      {"a short receive is NAKed as an operational error",
       [](Profile& p) { p.short_receive_nak = NakCode::invalid_request; },
       {"rc-errors"}},
      {"a short receive completes as a failed QP operation",
       [](Profile& p) { p.short_receive_status = CompletionStatus::local_length_error; },
       {"rc-errors"}},
      {"a receive with a bad key completes as a failed QP operation",
       [](Profile& p) { p.bad_receive_key_status = CompletionStatus::local_protection_error; },
       {"rc-errors"}},
      {"congestion marks are ignored", [](Profile& p) { p.send_cnps = true; }, {"rc-ecn-ce"}},
      // In no capture is a READ the last request executed when a SEND or WRITE is repeated, and each key that a SEND
      // with invalidate names can be invalidated.
      {"duplicates are acknowledged with the last PSN that was no READ's",
       [](Profile& p) { p.duplicate_ack_skips_reads = false; },
       {}},
      {"SEND with invalidate of a wrong key is acknowledged", [](Profile& p) { p.ack_failed_invalidate = false; }, {}},
  };
  return list;
}

TEST(CaptureReplayQuirks, EachShowsInTheCapturesThatHaveIt) {
  for (const Quirk& quirk : quirks()) {
    Profile profile = transport::rxe_profile();
    quirk.without(profile);
    std::set<std::string> seen;
    for (const std::string& capture : capture_names()) {
      if (replay(capture, profile).deviations != known_of(capture)) seen.insert(capture);
    }
    EXPECT_EQ(seen, quirk.captures) << quirk.what;
  }
}

}  // namespace
}  // namespace roce::test
