// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/congestion_curves.h"

#include <gtest/gtest.h>

namespace roce::analyze {
namespace {

constexpr std::uint8_t kEct = 2;
constexpr std::uint8_t kCe = 3;

/// Hands over packets of streams, as an analysis does.
class MarkedPackets {
 public:
  explicit MarkedPackets(CongestionCurves& curves) : curves_(curves) {}

  void data(std::int64_t at, std::uint8_t ecn, std::uint32_t stream = 1, std::uint32_t absorbed = analysis::kNoStream) {
    add(at, analysis::PacketRole::request, 0, stream, ecn, absorbed);
  }
  void cnp(std::int64_t at, std::uint32_t stream = 1, std::uint8_t direction = 1) {
    add(at, analysis::PacketRole::cnp, direction, stream, 0, analysis::kNoStream);
  }

 private:
  void add(std::int64_t at, analysis::PacketRole role, std::uint8_t direction, std::uint32_t stream, std::uint8_t ecn,
           std::uint32_t absorbed) {
    analysis::Observation seen;
    seen.kind = PacketKind::roce;
    seen.opcode = role == analysis::PacketRole::cnp ? Opcode::cnp : Opcode::rc_send_only;
    seen.time = Time{Duration{at}};
    seen.traffic_class = ecn;
    seen.wire_length = 100;
    analysis::PacketAnalysis known;
    known.stream = stream;
    known.direction = direction;
    known.role = role;
    known.absorbed = absorbed;
    curves_.add(seen, known);
  }

  CongestionCurves& curves_;
};

CongestionCurve::Interval sum_of(const CongestionCurve* curve) {
  CongestionCurve::Interval sum;
  if (curve == nullptr) return sum;
  for (const CongestionCurve::Interval& each : curve->intervals()) {
    sum.bytes += each.bytes;
    sum.marks += each.marks;
    sum.cnps += each.cnps;
  }
  return sum;
}

TEST(CongestionCurves, AddUpWhateverTheLengthOfTheCapture) {
  CongestionCurves curves;
  MarkedPackets packets{curves};
  constexpr std::int64_t kStep = 10'000;
  for (std::int64_t i = 0; i < 100'000; ++i) packets.data(i * kStep, i == 70'000 ? kCe : kEct);
  packets.cnp(70'001 * kStep);
  const CongestionCurve* const curve = curves.curve(1, 0);
  ASSERT_NE(curve, nullptr);
  EXPECT_LE(curve->intervals().size(), CongestionCurve::kMost);
  EXPECT_GT(curve->intervals().size(), CongestionCurve::kMost / 4);
  EXPECT_EQ(sum_of(curve), (CongestionCurve::Interval{100'000 * 100, 1, 1}));
  const auto at = static_cast<std::size_t>(70'000 * kStep / static_cast<std::int64_t>(curve->width_ns()));
  EXPECT_EQ(curve->intervals()[at].marks, 1U);
  EXPECT_EQ(curves.curve(1, 1), nullptr);
}

TEST(CongestionCurves, LeaveOutDataThatNobodyMayMark) {
  CongestionCurves curves;
  MarkedPackets packets{curves};
  packets.data(1000, 0);
  EXPECT_EQ(curves.curve(1, 0), nullptr);
}

TEST(CongestionCurves, GoWithAStreamThatIsAbsorbed) {
  CongestionCurves curves;
  MarkedPackets packets{curves};
  packets.data(1000, kCe, 4);
  packets.data(5000, kCe, 2);
  packets.cnp(7000, 4, 1);
  packets.data(9000, kEct, 2, 4);
  EXPECT_EQ(sum_of(curves.curve(2, 1)), (CongestionCurve::Interval{100, 1, 1}));
  EXPECT_EQ(sum_of(curves.curve(2, 0)), (CongestionCurve::Interval{200, 1, 0}));
  EXPECT_EQ(curves.curve(4, 0), nullptr);
}

TEST(CongestionCurves, AreBounded) {
  CongestionCurves curves;
  MarkedPackets packets{curves};
  for (std::uint32_t stream = 0; stream <= CongestionCurves::kStreams; ++stream) packets.data(1000, kCe, stream);
  EXPECT_NE(curves.curve(CongestionCurves::kStreams - 1, 0), nullptr);
  EXPECT_EQ(curves.curve(CongestionCurves::kStreams, 0), nullptr);
}

}  // namespace
}  // namespace roce::analyze
