// SPDX-License-Identifier: BSD-2-Clause
#include "sim/network.h"

#include <gmock/gmock.h>

#include <utility>

#include "roce/link/capture_reader.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/packet_spec.h"
#include "roce/wire/super_frame.h"
#include "sim/matchers.h"
#include "support/coalesce.h"
#include "support/temporary_folder.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;

MacAddress mac(std::uint8_t last) {
  return {{2, 0, 0, 0, 0, last}};
}

/// Returns a RoCE v2 packet with its addresses and a PSN.
Frame packet(std::uint32_t psn, std::uint8_t to = 2, std::uint8_t from = 1, std::uint32_t payload = 64,
             RoceVersion version = RoceVersion::v2_ipv4, std::uint16_t ip_id = 0) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_middle, version);
  EXPECT_TRUE(spec.set("eth.dst", to_string(mac(to))));
  EXPECT_TRUE(spec.set("eth.src", to_string(mac(from))));
  EXPECT_TRUE(spec.set("bth.psn", std::to_string(psn)));
  EXPECT_TRUE(spec.set("payload_length", std::to_string(payload)));
  if (version == RoceVersion::v2_ipv4) {
    EXPECT_TRUE(spec.set("ip.id", std::to_string(ip_id)));
    EXPECT_TRUE(spec.set("ip.ecn", "2"));
  }
  return spec.build().value();
}

std::uint32_t psn_of(Bytes frame) {
  return parse_frame(frame, LinkType::ethernet).bth().psn.value();
}

/// Two sinks with a link between them, and the frames that arrived at the second: (PSN, time in ns).
struct Wire {
  explicit Wire(const LinkConfig& config) {
    a = network.add_sink([](Bytes, Time) {});
    b = network.add_sink([this](Bytes frame, Time now) {
      arrived.emplace_back(psn_of(frame), now.time_since_epoch().count());
      last = Frame(frame.begin(), frame.end());
    });
    network.connect(a, b, config);
  }

  SimNetwork network{7};
  NodeId a = 0;
  NodeId b = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> arrived;
  Frame last;
};

TEST(SimLink, DelaysEachFrame) {
  Wire wire({.delay = 5us});
  wire.network.inject(wire.a, packet(1));
  wire.network.inject(wire.a, packet(2));
  ASSERT_TRUE(wire.network.run_until_idle());
  EXPECT_THAT(wire.arrived, ElementsAre(Pair(1, 5000), Pair(2, 5000)));
}

TEST(SimLink, TakesTheTimeThatTheRateSays) {
  Wire wire({.delay = 0us, .rate_bps = 1'000'000'000});
  const Frame frame = packet(1, 2, 1, 1024);
  const auto each = static_cast<std::int64_t>((frame.size() + 24) * 8);
  wire.network.inject(wire.a, frame);
  wire.network.inject(wire.a, packet(2, 2, 1, 1024));
  ASSERT_TRUE(wire.network.run_until_idle());
  EXPECT_THAT(wire.arrived, ElementsAre(Pair(1, each), Pair(2, 2 * each)));
}

TEST(SimLink, DropsWhatTheQueueCannotTake) {
  const Frame frame = packet(1);
  Wire wire({.rate_bps = 1'000'000'000, .queue_limit_bytes = frame.size() * 2});
  for (const std::uint32_t psn : {1U, 2U, 3U}) wire.network.inject(wire.a, packet(psn));
  ASSERT_TRUE(wire.network.run_until_idle());
  EXPECT_THAT(wire.arrived, ElementsAre(Pair(1, testing::_), Pair(2, testing::_)));
  EXPECT_EQ(wire.network.link_stats(wire.a, wire.b).dropped, 1U);
}

TEST(SimLink, MarksCongestionAboveTheThresholdAndKeepsChecksumAndIcrcRight) {
  const Frame frame = packet(1);
  Wire wire({.rate_bps = 1'000'000'000, .ecn_threshold_bytes = frame.size()});
  wire.network.inject(wire.a, packet(1));
  wire.network.inject(wire.a, packet(2));
  ASSERT_TRUE(wire.network.run_until_idle());
  EXPECT_EQ(wire.network.link_stats(wire.a, wire.b).marked, 1U);
  const Packet marked = parse_frame(wire.last, LinkType::ethernet);
  const Ipv4 ip = marked.get<Ipv4>().value();
  EXPECT_EQ(ip.ecn, 3);
  EXPECT_EQ(ip.checksum, ipv4_checksum(Bytes{wire.last}.subspan(marked.network_offset(), kSize<Ipv4>)));
  EXPECT_EQ(check_icrc(marked).status, IcrcStatus::good);
}

TEST(SimLink, DoesNotMarkWhatIsNotEcnCapable) {
  Frame frame = packet(1, 2, 1, 64, RoceVersion::v2_ipv6);
  EXPECT_FALSE(mark_congestion(frame));
}

TEST(SimLink, HasFaultRules) {
  Wire wire({.delay = 1us, .impair = "drop:psn=1; delay:psn=2,by=10us"});
  for (const std::uint32_t psn : {10U, 11U, 12U, 13U}) wire.network.inject(wire.a, packet(psn));
  ASSERT_TRUE(wire.network.run_until_idle());
  EXPECT_THAT(wire.arrived, ElementsAre(Pair(10, 1000), Pair(13, 1000), Pair(12, 11000)));
}

TEST(SimNetwork, SaysWhatIsPendingWhenAConditionIsNotMet) {
  Wire wire({});
  wire.network.inject(wire.a, packet(1));
  const testing::AssertionResult result = wire.network.run_until([] { return false; }, "the impossible");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.message(), testing::HasSubstr("became idle before: the impossible (seed 7"));
}

TEST(SimNetwork, StopsAnEndlessRun) {
  SimNetwork network{3};
  std::function<void()> again = [&] { network.after(1us, again); };
  network.after(1us, again);
  network.set_max_steps(100);
  const testing::AssertionResult result = network.run_until_idle();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.message(), testing::HasSubstr("too many steps before: idle (seed 3"));
}

TEST(SimSwitch, FloodsUnknownAddressesAndGroupsAndLearnsTheRest) {
  SimNetwork network;
  std::vector<std::pair<int, std::uint32_t>> seen;
  const NodeId bridge = network.add_switch();
  std::vector<NodeId> ends;
  for (int i = 0; i < 3; ++i) {
    ends.push_back(network.add_sink([&seen, i](Bytes frame, Time) { seen.emplace_back(i, psn_of(frame)); }));
    network.connect(ends.back(), bridge);
  }
  network.inject(ends[0], packet(1, 2, 1));  // no address is known yet: to both others
  ASSERT_TRUE(network.run_until_idle());
  EXPECT_THAT(seen, ElementsAre(Pair(1, 1), Pair(2, 1)));
  seen.clear();
  network.inject(ends[1], packet(2, 1, 2));  // 1 is known to be on the first port
  ASSERT_TRUE(network.run_until_idle());
  EXPECT_THAT(seen, ElementsAre(Pair(0, 2)));
  seen.clear();
  Frame group = packet(3, 1, 2);
  group[0] = std::byte{0x01};
  network.inject(ends[1], group);
  ASSERT_TRUE(network.run_until_idle());
  EXPECT_THAT(seen, ElementsAre(Pair(0, 3), Pair(2, 3)));
}

TEST(SimRecorder, WritesWhatPassesATapWithItsTime) {
  const roce::test::TemporaryFolder folder;
  const std::string path = folder.path("recorder.pcap");
  Wire wire({.delay = 1500ns, .impair = "drop:psn=1"});
  wire.network.record(path, Tap::received);
  wire.network.keep_trace(Tap::sent);
  for (const std::uint32_t psn : {10U, 11U, 12U}) wire.network.inject(wire.a, packet(psn));
  ASSERT_TRUE(wire.network.run_until_idle());
  wire.network.stop_recording();
  EXPECT_EQ(wire.network.trace().size(), 3U);
  auto reader = link::CaptureReader::open(path);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  link::CaptureRecord record;
  std::vector<std::pair<std::uint32_t, std::int64_t>> records;
  while (reader->next(record)) records.emplace_back(psn_of(record.bytes), record.timestamp_ns);
  EXPECT_THAT(records, ElementsAre(Pair(10, 1500), Pair(12, 1500)));
}

class SimCut : public testing::TestWithParam<RoceVersion> {};

TEST_P(SimCut, GivesTheFramesThatWereJoined) {
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < 5; ++i) {
    // Identifications count up, as in the kernel's segmentation, and go through 0.
    frames.push_back(packet(i, 2, 1, i == 4 ? 20 : 256, GetParam(), static_cast<std::uint16_t>(0xFFFE + i)));
  }
  const Frame joined = test::coalesce(frames);
  EXPECT_THAT(cut(joined, 5, 256 + 16), testing::ElementsAreArray(frames));
}

INSTANTIATE_TEST_SUITE_P(Version, SimCut, testing::Values(RoceVersion::v2_ipv4, RoceVersion::v2_ipv6));

}  // namespace
}  // namespace roce::sim
