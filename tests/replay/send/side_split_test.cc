// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/side_split.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roce/wire/packet_spec.h"

namespace roce::replay {
namespace {

/// Returns the frame of a specification such as `eth ip udp bth` with values.
[[nodiscard]] std::vector<std::byte> frame_of(const std::string& headers,
                                              const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text = "headers: " + headers + "\n";
  for (const auto& [name, value] : values) text += name + ": " + value + "\n";
  return PacketSpec::from_text(text)->build().value();
}

[[nodiscard]] std::optional<std::uint8_t> side_of(const std::vector<std::string>& side_a,
                                                  const std::vector<std::byte>& frame) {
  return SideSplit::make(side_a)->side_of(parse_frame(frame, LinkType::ethernet), Time{});
}

TEST(SideSplit, AddressesAndNetworksChooseTheSide) {
  const auto frame = frame_of("eth ip udp bth", {{"ip.src", "10.1.2.3"}, {"ip.dst", "10.2.0.1"}});
  EXPECT_EQ(side_of({"10.1.2.3"}, frame), 0);
  EXPECT_EQ(side_of({"10.2.0.1"}, frame), 1);
  EXPECT_EQ(side_of({"10.1.0.0/16"}, frame), 0);
  EXPECT_EQ(side_of({"10.1.2.2/31"}, frame), 0);
  EXPECT_EQ(side_of({"10.1.2.4/31"}, frame), std::nullopt);
  EXPECT_EQ(side_of({"192.0.2.1", "10.2.0.0/15"}, frame), 1);
  EXPECT_EQ(side_of({"0.0.0.0/0"}, frame), 0);
  EXPECT_EQ(side_of({"fd00::/8"}, frame), std::nullopt);
}

TEST(SideSplit, KnowsIpv6AndRoceV1) {
  const auto v6 = frame_of("eth ipv6 udp bth", {{"ipv6.src", "fd00::1"}, {"ipv6.dst", "fd01::1"}});
  EXPECT_EQ(side_of({"fd01::/16"}, v6), 1);
  const auto v1 = frame_of("eth grh bth", {{"grh.sgid", "fe80::1"}, {"grh.dgid", "fe80::2"}});
  EXPECT_EQ(side_of({"fe80::1"}, v1), 0);
}

TEST(SideSplit, EthernetAddressesAreForWhatHasNoOther) {
  const auto pause =
      frame_of("eth mac_control pause", {{"eth.src", "02:00:00:00:00:01"}, {"mac_control.opcode", "PAUSE"}});
  EXPECT_EQ(side_of({"10.1.2.3"}, pause), std::nullopt);
  EXPECT_EQ(side_of({"10.1.2.3", "02:00:00:00:00:01"}, pause), 0);
}

TEST(SideSplit, NamesWhatIsNoAddress) {
  for (const char* wrong : {"", "host", "10.1.2", "10.1.2.3/33", "fd00::/129", "10.1.2.3/", "10.1.2.3/x",
                            "02:00:00:00:00", "client", "qp=", "qp=1", "qp=0x1000000", "qp=0x11@host"}) {
    const Outcome<SideSplit> split = SideSplit::make({wrong});
    ASSERT_FALSE(split) << wrong;
    EXPECT_NE(split.error().message.find('"' + std::string{wrong} + '"'), std::string::npos);
  }
}

}  // namespace
}  // namespace roce::replay
