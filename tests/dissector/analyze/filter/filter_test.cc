// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/filter.h"

#include <gtest/gtest.h>

#include <set>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

/// Returns the names of the vectors that pass.
std::set<std::string> passing(const PacketSelection& options) {
  std::set<std::string> names;
  const auto filter = PacketFilter::make(options);
  EXPECT_TRUE(filter.has_value()) << filter.error();
  for (const roce::test::Vector& vector : roce::test::kVectors) {
    const std::vector<std::byte> bytes = roce::test::from_hex(vector.hex);
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    if (filter->passes_addresses(packet) && filter->passes_transport(packet)) names.emplace(vector.name);
  }
  return names;
}

using Names = std::set<std::string>;

PacketSelection with(std::vector<std::string> PacketSelection::*kind, std::vector<std::string> values) {
  PacketSelection options;
  options.*kind = std::move(values);
  return options;
}

TEST(FilterTest, NothingGivenPassesEverything) {
  EXPECT_EQ(passing({}).size(), roce::test::kVectors.size());
}

TEST(FilterTest, OpcodesByNameNumberAndPattern) {
  const auto opcodes = &PacketSelection::opcodes;
  EXPECT_EQ(passing(with(opcodes, {"CNP"})), (Names{"C1", "T8"}));
  EXPECT_EQ(passing(with(opcodes, {"rc_acknowledge"})), (Names{"C3", "T2"}));
  EXPECT_EQ(passing(with(opcodes, {"0x11"})), (Names{"C3", "T2"}));
  EXPECT_EQ(passing(with(opcodes, {"rc_write*"})), passing(with(opcodes, {"RC_WRITE_ONLY"})));
  EXPECT_EQ(passing(with(opcodes, {"CNP", "17"})), (Names{"C1", "C3", "T2", "T8"}));
}

TEST(FilterTest, QueuePairsOfDestinationAndDatagramSource) {
  EXPECT_EQ(passing(with(&PacketSelection::qps, {"0x12"})), (Names{"T2", "T8"}));
  EXPECT_EQ(passing(with(&PacketSelection::qps, {"18"})), (Names{"T2", "T8"}));
  const Names both = passing(with(&PacketSelection::qps, {"0x12", "0x118"}));
  EXPECT_EQ(both, (Names{"C1", "T2", "T8"}));
}

TEST(FilterTest, Addresses) {
  EXPECT_EQ(passing(with(&PacketSelection::addresses, {"10.0.17.1"})), (Names{"C1"}));
  EXPECT_EQ(passing(with(&PacketSelection::sources, {"10.0.17.1"})), (Names{"C1"}));
  EXPECT_EQ(passing(with(&PacketSelection::destinations, {"10.0.17.1"})), Names{});
  EXPECT_EQ(passing(with(&PacketSelection::addresses, {"10.0.0.0/15"})), (Names{"C1"}));
  EXPECT_EQ(passing(with(&PacketSelection::addresses, {"10.0.16.0/24"})), Names{});
  EXPECT_EQ(passing(with(&PacketSelection::addresses, {"::ffff:10.0.17.1"})), (Names{"C1"}));
  EXPECT_TRUE(passing(with(&PacketSelection::addresses, {"2001:db8::/32"})).contains("T3"));
  EXPECT_FALSE(passing(with(&PacketSelection::addresses, {"2001:db8::/32"})).contains("T1"));
  EXPECT_EQ(passing(with(&PacketSelection::addresses, {"e4:1d:2d:ab:2b:c2"})), (Names{"C1"}));
  EXPECT_EQ(passing(with(&PacketSelection::sources, {"e4:1d:2d:ab:2b:c2"})), Names{});
}

TEST(FilterTest, KindsMustAllHold) {
  PacketSelection options = with(&PacketSelection::opcodes, {"RC_ACKNOWLEDGE"});
  options.addresses = {"192.0.2.1"};
  EXPECT_EQ(passing(options), (Names{"T2"}));
}

TEST(FilterTest, Times) {
  PacketSelection options;
  options.from = "1.5";
  options.to = "2.5";
  const auto filter = PacketFilter::make(options);
  ASSERT_TRUE(filter.has_value());
  constexpr std::int64_t start = 1'795'213'331'000'000'000;
  EXPECT_FALSE(filter->passes_time(start + 1'499'999'999, 1'499'999'999));
  EXPECT_TRUE(filter->passes_time(start + 1'500'000'000, 1'500'000'000));
  EXPECT_TRUE(filter->passes_time(start + 2'500'000'000, 2'500'000'000));
  EXPECT_FALSE(filter->passes_time(start + 2'500'000'001, 2'500'000'001));
  EXPECT_FALSE(filter->passes_time(std::nullopt, 0));
}

TEST(FilterTest, ErrorsNameTheOption) {
  for (const auto& [kind, value] : std::vector<std::pair<std::vector<std::string> PacketSelection::*, std::string>>{
           {&PacketSelection::qps, "-1"},
           {&PacketSelection::qps, "1 2"},
           {&PacketSelection::qps, "16777216"},
           {&PacketSelection::opcodes, "256"},
           {&PacketSelection::opcodes, "FOO*"},
           {&PacketSelection::addresses, "1.2.3"},
           {&PacketSelection::addresses, "::1/129"},
           {&PacketSelection::addresses, "1.2.3.4/33"},
           {&PacketSelection::sources, "02:00"}}) {
    const auto filter = PacketFilter::make(with(kind, {value}));
    ASSERT_FALSE(filter.has_value()) << value;
    EXPECT_TRUE(filter.error().starts_with("--")) << filter.error();
    EXPECT_NE(filter.error().find("'" + value + "'"), std::string::npos) << filter.error();
  }
}

class FilterProgramTest : public ProgramTest {};

TEST_F(FilterProgramTest, TimesAsTheyArePrinted) {
  const std::string file = softroce("rc-mix-v4.tx.pcap");
  const std::vector<std::string> all = lines(decode({file}).out);
  const std::vector<std::string> found = lines(decode({"--from", "0.392893", "--to", "0.394101", file}).out);
  // Frames 25 to 28 of the capture, as tshark shows them.
  ASSERT_EQ(found.size(), 4U);
  EXPECT_TRUE(found.front().starts_with("    25 "));
  EXPECT_TRUE(found.back().starts_with("    28 "));
  const std::vector<std::string> absolute =
      lines(decode({"--from", "2026-11-20T22:21:32.421509Z", "--to", "1795213292.422717", file}).out);
  EXPECT_EQ(absolute, found);
  EXPECT_EQ(lines(decode({"--from", "0", file}).out), all);
}

TEST_F(FilterProgramTest, OnlyBadIcrcWithFilters) {
  const std::string file = softroce("rc-corrupt.rx.pcap");
  const std::size_t first = lines(decode({"--only-bad-icrc", "--opcode", "*_FIRST", file}).out).size();
  const std::size_t others =
      lines(decode({"--only-bad-icrc", "--opcode", "*_MIDDLE", "--opcode", "*_LAST*", "--opcode", "*_ONLY*", "--opcode",
                    "*_REQUEST", "--opcode", "*ACK*", "--opcode", "*SWAP", "--opcode", "*ADD", file})
                .out)
          .size();
  EXPECT_GT(first, 0U);
  EXPECT_EQ(first + others, 18U);
}

}  // namespace
}  // namespace roce::analyze::test
