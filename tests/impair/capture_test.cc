// SPDX-License-Identifier: BSD-2-Clause
// The engine fed with real traffic of Soft-RoCE.
#include <gtest/gtest.h>

#include <map>

#include "impair/support.h"
#include "support/captures.h"
#include "support/source_tree.h"

namespace roce::impair {
namespace {

class ImpairCapture : public testing::TestWithParam<std::filesystem::path> {};

/// Runs a capture through an engine; side a is the one that sent first. Calls `use(submitted frame, output frames)`.
template <typename Use>
void run(Engine& engine, const std::filesystem::path& path, Use use) {
  std::optional<Gid> a;
  roce::test::for_each_record(path, [&](const link::CaptureRecord& record) {
    const test::Frame frame{record.bytes.begin(), record.bytes.end()};
    const Packet packet = test::parsed(frame);
    if (packet.is_roce() && !a) a = packet.net().source;
    const Direction direction = packet.is_roce() && packet.net().source != *a ? Direction::b_to_a : Direction::a_to_b;
    use(frame, test::pass(engine, frame, direction));
  });
}

TEST_P(ImpairCapture, PassesUnchangedWhereNoRuleMatches) {
  Engine engine = test::engine_of("drop:qp=0xfffffe; corrupt:count=0; delay:by=1s,qp=0xfffffe");
  run(engine, GetParam(), [](const test::Frame& frame, const std::vector<test::Sent>& sent) {
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].bytes, frame);
  });
  EXPECT_EQ(engine.packets_inside(), 0U);
}

TEST_P(ImpairCapture, IcrcsStayRightAfterEditsAndMarksAndAreWrongAfterCorrupt) {
  Engine good = test::engine_of("edit:field=bth.psn,value=0x123456; edit:field=bth.dest_qp,value=0x42; mark_ce");
  Engine bad = test::engine_of("corrupt");
  const auto check = [](IcrcStatus expected) {
    return [expected](const test::Frame& frame, const std::vector<test::Sent>& sent) {
      ASSERT_EQ(sent.size(), 1U);
      if (!test::parsed(frame).is_roce() || test::icrc_of(frame) != IcrcStatus::good) return;
      EXPECT_EQ(test::icrc_of(sent[0].bytes), expected);
    };
  };
  run(good, GetParam(), check(IcrcStatus::good));
  run(bad, GetParam(), check(IcrcStatus::bad));
}

TEST_P(ImpairCapture, TransmissionsAgreeWithASimpleCount) {
  Engine engine{test::rules_of("mark_ce:psn=-8388608..8388607"), 1, {.psns_per_flow = 65536, .log_records = 65536}};
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, PacketClass>;
  std::map<Key, std::uint32_t> counts;
  run(engine, GetParam(), [&](const test::Frame& frame, const std::vector<test::Sent>&) {
    const Packet packet = test::parsed(frame);
    if (!packet.is_roce()) return;
    const auto record = engine.poll_log();
    if (packet.opcode() == Opcode::cnp) return;
    ASSERT_TRUE(record.has_value());
    const std::uint32_t count = ++counts[{to_string(packet.net().source), packet.bth().dest_qp.value(),
                                          packet.bth().psn.value(), record->packet_class}];
    EXPECT_EQ(record->transmission, count);
  });
}

INSTANTIATE_TEST_SUITE_P(SoftRoce, ImpairCapture, testing::ValuesIn(roce::test::capture_files()),
                         [](const auto& of) { return roce::test::test_name(of.param); });

TEST(ImpairCaptureScript, FindsTheRetransmissionThatRealTrafficHas) {
  Engine engine{test::rules_of("mark_ce:tx=2..,op=request"), 1, {.psns_per_flow = 65536, .log_records = 65536}};
  run(engine, std::filesystem::path{roce::test::captures_folder()} / "softroce" / "rc-drop-requests.tx.pcap",
      [](const auto&, const auto&) {});
  EXPECT_GT(test::drain_log(engine).size(), 0U) << "requests were lost on the way, so some were sent again";
  Engine none{test::rules_of("mark_ce:tx=2..,op=request"), 1, {.psns_per_flow = 65536, .log_records = 65536}};
  run(none, std::filesystem::path{roce::test::captures_folder()} / "softroce" / "rc-mix-v4.tx.pcap",
      [](const auto&, const auto&) {});
  EXPECT_EQ(test::drain_log(none).size(), 0U) << "nothing was lost, so nothing was sent again";
}

}  // namespace
}  // namespace roce::impair
