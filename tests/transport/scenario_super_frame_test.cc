// SPDX-License-Identifier: BSD-2-Clause
// Units of several packets: their ICRCs are right for the headers that each packet gets when it is cut out.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <vector>

#include "roce/wire/icrc.h"
#include "roce/wire/ipv4.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using transport::TxCaps;
using transport::TxUnit;
using transport::WorkOpcode;

constexpr std::uint32_t kMtu = 1024;
constexpr std::uint32_t kLength = 40 * kMtu + 100;
constexpr std::uint32_t kPackets = 41;

/// Returns the network headers of a unit's packets.
[[nodiscard]] NetMeta net_of(const TxUnit& unit, TxCaps::Link link) {
  if (link == TxCaps::Link::ethernet) return parse_frame(unit.bytes, LinkType::ethernet).net();
  NetMeta net = *unit.net;
  if (net.version == RoceVersion::v2_ipv4) net.ip_id = 0;
  return net;
}

class SuperFrames : public ScenarioTest {
 protected:
  struct Seen {
    std::uint32_t packets = 0;
    std::uint32_t most_segments = 0;
    std::vector<std::uint16_t> ip_ids;
  };

  /// Checks each packet of a WRITE that leaves in units for `caps`.
  [[nodiscard]] Seen transmit(RoceVersion version, const TxCaps& caps) {
    Pair::Options options = Pair::with(profile());
    options.connection = {.path = {.version = version}, .mtu = kMtu};
    options.a_endpoint.memory = 2 * kLength;
    Pair pair{options};
    pair.a.post({.opcode = WorkOpcode::write, .length = 1});
    if (!pair.network.run_until_idle()) throw std::runtime_error("the first WRITE was not sent");
    pair.a.post({.opcode = WorkOpcode::write, .length = kLength});
    std::vector<std::byte> buffer(1U << 17U);
    std::array<TxUnit, 64> units{};
    const std::size_t count = pair.a.device().transmit(buffer, units, caps, Time{1s});
    Seen seen;
    for (const TxUnit& unit : std::span{units}.first(count)) {
      NetMeta net = net_of(unit, caps.link);
      const std::size_t headers = caps.link == TxCaps::Link::ethernet
                                      ? parse_frame(unit.bytes, LinkType::ethernet).bth_offset()
                                      : std::size_t{0};
      std::span<std::byte> rest = unit.bytes.subspan(headers);
      seen.most_segments = std::max(seen.most_segments, unit.segments);
      EXPECT_LE(unit.bytes.size(), caps.max_bytes);
      for (std::uint32_t i = 0; i < unit.segments; ++i, ++seen.packets) {
        const auto bytes = rest.first(std::min<std::size_t>(rest.size(), unit.segment_size));
        rest = rest.subspan(bytes.size());
        EXPECT_EQ(check_icrc(parse_transport(bytes, net)).status, IcrcStatus::good) << seen.packets;
        if (net.ip_id) seen.ip_ids.push_back((*net.ip_id)++);
      }
      EXPECT_TRUE(rest.empty());
    }
    return seen;
  }
};

ROCE_UNDER_EACH_PROFILE(SuperFrames);

TEST_P(SuperFrames, CountIdentificationsOverAllUnitsOfAFlow) {
  const Seen seen = transmit(RoceVersion::v2_ipv4, {.max_bytes = 65535, .max_segments = 16});
  EXPECT_EQ(seen.packets, kPackets);
  EXPECT_EQ(seen.most_segments, 16U);
  ASSERT_EQ(seen.ip_ids.size(), kPackets);
  for (std::size_t i = 1; i < seen.ip_ids.size(); ++i) {
    EXPECT_EQ(seen.ip_ids[i], static_cast<std::uint16_t>(seen.ip_ids[i - 1] + 1)) << i;
  }
}

TEST_P(SuperFrames, OfASocketBeginWithIdentificationZero) {
  const TxCaps caps{.link = TxCaps::Link::transport, .max_bytes = 20'000, .max_segments = 64};
  const Seen seen = transmit(RoceVersion::v2_ipv4, caps);
  EXPECT_EQ(seen.packets, kPackets);
  EXPECT_EQ(seen.most_segments, 20U) << "as many as 20000 bytes hold, the last of which is short";
  EXPECT_EQ(std::ranges::count(seen.ip_ids, 0), 3);
  EXPECT_EQ(std::ranges::max(seen.ip_ids), 19);
}

TEST_P(SuperFrames, OfIpv6HaveNoIdentifications) {
  const Seen seen = transmit(RoceVersion::v2_ipv6, {.max_bytes = 65535, .max_segments = 64});
  EXPECT_EQ(seen.packets, kPackets);
  EXPECT_GT(seen.most_segments, 30U);
}

TEST_P(SuperFrames, AreNotMadeOfRoceV1) {
  const Seen seen = transmit(RoceVersion::v1, {.max_bytes = 65535, .max_segments = 64});
  EXPECT_EQ(seen.packets, kPackets);
  EXPECT_EQ(seen.most_segments, 1U);
}

}  // namespace
}  // namespace roce::sim
