// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/neighbour_message.h"

#include <gtest/gtest.h>

#include <string>

#include "support/hex.h"

namespace roce {
namespace {

using roce::test::from_hex;

constexpr MacAddress kMac{{2, 0, 0, 0, 0, 1}};
const Gid kOwn = Gid::from_ipv4({{192, 0, 2, 1}});
const Gid kOther = Gid::from_ipv4({{192, 0, 2, 2}});

/// An ARP packet of 192.0.2.1 in a frame.
std::string arp_frame(const std::string& operation, const std::string& sender, const std::string& target,
                      const std::string& tag = "") {
  return "ffffffffffff020000000001" + tag + "080600010800060400" + operation + "020000000001" + sender +
         "000000000000" + target;
}

std::optional<NeighbourMessage> message_in(const std::string& hex) {
  const std::vector<std::byte> frame = from_hex(hex);
  return read_neighbour_message(parse_frame(frame, LinkType::ethernet));
}

TEST(NeighbourMessages, OfArp) {
  for (const char* tag : {"", "81000007", "88a8000181000007"}) {
    const auto question = message_in(arp_frame("01", "c0000201", "c0000202", tag));
    ASSERT_TRUE(question.has_value()) << tag;
    EXPECT_EQ(*question, (NeighbourMessage{NeighbourPurpose::question, kOwn, kOther, kMac, false}));
  }
  EXPECT_EQ(message_in(arp_frame("02", "c0000201", "c0000202")),
            (NeighbourMessage{NeighbourPurpose::answer, kOwn, kOwn, kMac, false}));
  for (const char* operation : {"01", "02"}) {
    EXPECT_EQ(message_in(arp_frame(operation, "c0000201", "c0000201")),
              (NeighbourMessage{NeighbourPurpose::announcement, kOwn, kOwn, kMac, false}));
  }
  const auto probe = message_in(arp_frame("01", "00000000", "c0000202"));
  ASSERT_TRUE(probe.has_value());
  EXPECT_TRUE(probe->is_probe);
  EXPECT_FALSE(message_in(arp_frame("03", "c0000201", "c0000202")).has_value()) << "an operation that nobody knows";
  EXPECT_FALSE(message_in(arp_frame("01", "c0000201", "c00002")).has_value()) << "one byte short";
}

// A neighbour solicitation that Linux sent.
const std::string kSolicitation =
    "3333ffebf223da9490ebf22386dd6000000000203aff00000000000000000000000000000000ff0200000000000000000001ffebf22387008c"
    "d800000000fe80000000000000d89490fffeebf2230e0167b3fcc52f19";

TEST(NeighbourMessages, OfNeighbourDiscovery) {
  const auto probe = message_in(kSolicitation);
  ASSERT_TRUE(probe.has_value());
  EXPECT_EQ(probe->purpose, NeighbourPurpose::question);
  EXPECT_TRUE(probe->is_probe);
  EXPECT_EQ(to_string(probe->address), "fe80::d894:90ff:feeb:f223");
  std::string damaged = kSolicitation;
  damaged.back() = '8';
  EXPECT_FALSE(message_in(damaged).has_value()) << "its checksum is wrong";
  std::string from_afar = kSolicitation;
  from_afar.replace(from_afar.find("3aff"), 4, "3afe");
  EXPECT_FALSE(message_in(from_afar).has_value()) << "a router has passed it on";
}

TEST(NeighbourMessages, OptionsThatAreMalformed) {
  EXPECT_EQ(read_nd_options(from_hex("0101020000000001"), NdOption::source_link_layer).mac, kMac);
  EXPECT_EQ(read_nd_options(from_hex("0101020000000001"), NdOption::target_link_layer).mac, std::nullopt);
  EXPECT_FALSE(read_nd_options(from_hex("0100020000000001"), NdOption::source_link_layer).ok) << "a length of 0";
  EXPECT_FALSE(read_nd_options(from_hex("0102020000000001"), NdOption::source_link_layer).ok) << "beyond the end";
}

}  // namespace
}  // namespace roce
