// SPDX-License-Identifier: BSD-2-Clause
// Properties of the messages of every capture of real traffic, whatever packets they are cut into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "roce/analysis/tracker.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/super_frame.h"
#include "support/source_tree.h"
#include "tests/replay/segment/segmented.h"

namespace roce::replay::test {
namespace {

using analysis::VerdictKind;
using ::testing::IsSubsetOf;

/// The results of analysing a trace.
struct Findings {
  /// Stream, direction, type, end, bytes, immediate, invalidate.
  std::multiset<std::tuple<unsigned, unsigned, unsigned, unsigned, std::uint64_t, bool, bool>> messages;
  std::map<VerdictKind, std::size_t> verdicts;
};

Findings judge(const Trace& trace) {
  analysis::Tracker tracker;
  std::vector<analysis::Verdict> verdicts;
  std::uint64_t number = 0;
  for (const TimedFrame& frame : trace) {
    const Packet packet = frame.parse();
    const auto& seen = tracker.observe(analysis::observe_packet(packet, check_icrc(packet), frame.time, {++number, 0}));
    verdicts.insert(verdicts.end(), seen.verdicts.begin(), seen.verdicts.end());
  }
  tracker.finish();
  tracker.drain(verdicts);
  std::vector<analysis::Message> messages;
  tracker.drain_messages(messages);
  Findings findings;
  for (const analysis::Verdict& verdict : verdicts) ++findings.verdicts[verdict.kind];
  for (const analysis::Message& message : messages) {
    findings.messages.insert({message.stream, message.direction, static_cast<unsigned>(message.type),
                              static_cast<unsigned>(message.end), message.bytes, message.has_immediate,
                              message.has_invalidate});
  }
  return findings;
}

std::set<VerdictKind> kinds_of(const Findings& findings) {
  std::set<VerdictKind> kinds;
  for (const auto& [kind, count] : findings.verdicts) kinds.insert(kind);
  return kinds;
}

/// The payload of each flow's requests and answers: all that was sent, each PSN once, in order.
using FlowData = std::map<std::tuple<std::string, std::string, std::uint32_t, bool>, std::vector<std::byte>>;

FlowData data_of(const Trace& trace) {
  struct Flow {
    PsnCounter counter;
    std::map<LongPsn, std::vector<std::byte>> packets;
  };
  std::map<std::tuple<std::string, std::string, std::uint32_t, bool>, Flow> flows;
  for (const TimedFrame& frame : trace) {
    const Packet packet = frame.parse();
    if (!packet.is_roce() || check_icrc(packet).status != IcrcStatus::good) continue;
    if (packet.info().service != Service::rc && packet.info().service != Service::uc) continue;
    const NetMeta net = packet.net();
    const Bth bth = packet.bth();
    Flow& flow =
        flows[{to_string(net.source), to_string(net.destination), bth.dest_qp.value(), packet.info().is_response()}];
    const LongPsn psn = flow.counter.unwrap(bth.psn);
    flow.counter.note(psn);
    flow.packets[psn].assign(packet.payload().begin(), packet.payload().end());
  }
  FlowData data;
  for (const auto& [key, flow] : flows) {
    for (const auto& [psn, payload] : flow.packets) data[key].insert(data[key].end(), payload.begin(), payload.end());
  }
  return data;
}

/// Returns the payload length of the longest packet that others follow in its message; 0 if there is none.
std::uint32_t path_mtu_of(const Trace& trace) {
  std::uint32_t mtu = 0;
  for (const TimedFrame& frame : trace) {
    const Packet packet = frame.parse();
    if (!packet.is_roce() || check_icrc(packet).status != IcrcStatus::good) continue;
    const Position position = packet.info().position;
    if (position == Position::first || position == Position::middle) mtu = std::max(mtu, packet.payload_length());
  }
  return mtu;
}

class EveryCapture : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  /// True if requests were refused: how much of them had arrived by then depends on where they were cut.
  [[nodiscard]] bool has_refusals() const { return GetParam().filename().string().starts_with("rc-errors"); }
};

TEST_P(EveryCapture, CutSmallerHasTheSameMessagesVerdictsAndData) {
  const Trace trace = trace_of(GetParam());
  const Findings before = judge(trace);
  for (const std::uint32_t mtu : {256U, 512U}) {
    const Segmented after = segmented(trace, mtu);
    const Findings findings = judge(after.trace);
    if (!has_refusals()) {
      EXPECT_EQ(findings.messages, before.messages);
    }
    auto kinds = kinds_of(findings);
    // The requester asks again from the first packet that it misses: nothing is known of the others of that gap.
    if (!before.verdicts.contains(VerdictKind::unexplained) && before.verdicts.contains(VerdictKind::response_gap)) {
      kinds.erase(VerdictKind::unexplained);
    }
    EXPECT_EQ(kinds, kinds_of(before));
    EXPECT_EQ(after.counts.incomplete, 0U);
    EXPECT_EQ(after.counts.answers_left_out, 0U);
    // The data of damaged packets cannot be compared.
    if (!before.verdicts.contains(VerdictKind::bad_icrc)) {
      EXPECT_EQ(data_of(after.trace), data_of(trace));
    }
  }
}

TEST_P(EveryCapture, JoinedHasTheSameMessagesAndData) {
  const Trace trace = trace_of(GetParam());
  const Findings before = judge(trace);
  const Segmented after = segmented(trace, 4096);
  const Findings findings = judge(after.trace);
  const bool is_damaged = before.verdicts.contains(VerdictKind::bad_icrc);
  if (!has_refusals()) {
    EXPECT_EQ(findings.messages, before.messages);
  }
  if (!is_damaged) {
    EXPECT_EQ(after.counts.incomplete, 0U);
    EXPECT_EQ(data_of(after.trace), data_of(trace));
  }
  const bool has_losses =
      before.verdicts.contains(VerdictKind::retransmission) || before.verdicts.contains(VerdictKind::response_repeated);
  if (!has_losses) {
    EXPECT_THAT(kinds_of(findings), IsSubsetOf(kinds_of(before)));
  }
}

TEST_P(EveryCapture, IsCutAtThePathMtuWithGoodIcrcsAndChecksums) {
  const Trace trace = trace_of(GetParam());
  for (const std::uint32_t mtu : {256U, 2048U}) {
    const Segmented after = segmented(trace, mtu);
    const bool is_damaged = judge(trace).verdicts.contains(VerdictKind::bad_icrc);
    Time latest{};
    for (const TimedFrame& frame : after.trace) {
      const Packet packet = frame.parse();
      EXPECT_GE(frame.time, latest);
      latest = frame.time;
      if (!packet.is_roce()) continue;
      const FrameSeal seal{packet};
      if (!is_damaged) {
        EXPECT_EQ(seal.icrc_error().value_or(0), 0U);
      }
      EXPECT_EQ(seal.wrong_checksums(), 0U);
      EXPECT_EQ(packet.problem(), ParseError{});
      if (!after.plan->left.empty() || packet.info().service == Service::ud || is_damaged) continue;
      EXPECT_TRUE(payload_fits(packet.info().payload, packet.payload_length(), mtu)) << packet.info().name;
    }
  }
}

TEST_P(EveryCapture, ThereAndBackIsTheIdentity) {
  const Trace trace = trace_of(GetParam());
  const std::uint32_t old_mtu = path_mtu_of(trace);
  const bool has_several = GetParam().filename().string().starts_with("rc-mtu-sweep") ||
                           GetParam().filename().string().starts_with("uc-mix");
  if (old_mtu <= 256 || has_several) return;
  const Segmented there = segmented(trace, 256);
  const Segmented back = segmented(there.trace, old_mtu);
  const bool is_damaged = GetParam().filename().string().starts_with("rc-corrupt");
  // The parts of a damaged packet do not become one packet again.
  if (!is_damaged) {
    EXPECT_EQ(back.trace, trace);
  }
  EXPECT_EQ(there.trace != trace, there.plan->connections != 0);
}

INSTANTIATE_TEST_SUITE_P(SoftRoce, EveryCapture, ::testing::ValuesIn(roce::test::capture_files()),
                         [](const auto& one) { return roce::test::test_name(one.param); });

TEST(EveryCaptureTogether, HasMessagesThatAreCut) {
  std::uint64_t cut = 0;
  std::uint64_t joined = 0;
  for (const auto& path : roce::test::capture_files()) {
    cut += segmented(trace_of(path), 256).counts.cut;
    joined += segmented(trace_of(path), 4096).counts.joined;
  }
  EXPECT_GT(cut, 1500U);
  EXPECT_GT(joined, 1500U);
}

/// Damage of any kind is survived, and frames come out in any case.
TEST(Damage, AnyHeaderMayBeAnything) {
  std::uint64_t state = 1;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33U) % below;
  };
  for (const char* name : {"rc-mix-v4.tx.pcap", "rc-drop-random.tx.pcap", "uc-mix.tx.pcap", "cm-rping.tx.pcap"}) {
    const Trace original = trace_of(std::filesystem::path{roce::test::captures_folder()} / "softroce" / name);
    for (int round = 0; round < 12; ++round) {
      Trace trace = original;
      for (TimedFrame& frame : trace) {
        const Packet packet = frame.parse();
        if (!packet.is_roce() || next(8) != 0) continue;
        const FrameSeal seal{packet};
        frame.bytes[packet.bth_offset() + next(std::min<std::size_t>(28, frame.bytes.size() - packet.bth_offset()))] =
            static_cast<std::byte>(next(256));
        // Most of the damage looks as if it were intended.
        if (next(4) != 0) seal.renew(frame.parse(), frame.bytes, WrongCheck::repair, WrongCheck::repair);
        if (next(8) == 0) frame.bytes.resize(packet.bth_offset() + 12 + next(40));
      }
      for (const std::uint32_t mtu : {256U, 4096U}) {
        const Segmented after = segmented(trace, mtu);
        EXPECT_FALSE(after.trace.empty());
      }
    }
  }
}

}  // namespace
}  // namespace roce::replay::test
