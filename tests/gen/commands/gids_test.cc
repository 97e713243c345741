// SPDX-License-Identifier: BSD-2-Clause
// roce-gen gids in a network of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "support/network_namespace.h"

namespace roce::gen::test {
namespace {

using nlohmann::json;
using roce::test::CommandOutcome;
using roce::test::NetworkNamespace;

class GidsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NetworkNamespace::unavailable()) GTEST_SKIP() << *NetworkNamespace::unavailable();
    space_.emplace();
    space_->ip("link add name va mtu 9000 address 02:00:00:00:00:0a type veth peer name vb");
    space_->ip("address add 192.0.2.1/24 dev va");
    space_->ip("address add 2001:db8::1/64 dev va nodad");
  }

  [[nodiscard]] CommandOutcome gids(const std::string& arguments) const {
    // ROCE_GEN names a copy of the program for users who may not enter the build folder.
    const char* const other = std::getenv("ROCE_GEN");
    return space_->run((other != nullptr ? std::string{other} : std::string{ROCE_GEN}) + " gids " + arguments);
  }

  std::optional<NetworkNamespace> space_;
};

TEST_F(GidsTest, PrintATable) {
  const CommandOutcome done = gids("-i va");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.output, R"(DEV  INDEX  GID                                      IPv4       TYPE  NETDEV  VLAN  MTU
va   0      fe80:0000:0000:0000:0000:00ff:fe00:000a  -          v1    va      -     9000
va   1      fe80:0000:0000:0000:0000:00ff:fe00:000a  -          v2    va      -     9000
va   2      0000:0000:0000:0000:0000:ffff:c000:0201  192.0.2.1  v1    va      -     9000
va   3      0000:0000:0000:0000:0000:ffff:c000:0201  192.0.2.1  v2    va      -     9000
va   4      2001:0db8:0000:0000:0000:0000:0000:0001  -          v1    va      -     9000
va   5      2001:0db8:0000:0000:0000:0000:0000:0001  -          v2    va      -     9000
)");
}

TEST_F(GidsTest, PrintJson) {
  const CommandOutcome done = gids("-i va --json");
  EXPECT_EQ(done.exit_code, 0);
  const json rows = json::parse(done.output);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[3], (json{{"device", "va"},
                           {"index", 3},
                           {"gid", "0000:0000:0000:0000:0000:ffff:c000:0201"},
                           {"ipv4", "192.0.2.1"},
                           {"type", "v2"},
                           {"netdev", "va"},
                           {"vlan", nullptr},
                           {"mtu", 9000}}));
  EXPECT_EQ(rows[4].at("ipv4"), nullptr);
}

TEST_F(GidsTest, OfVlanDevicesStandInTheTableOfTheirParent) {
  const CommandOutcome made = space_->run("ip link add link va name va.5 type vlan id 5");
  if (made.exit_code != 0) GTEST_SKIP() << "this kernel has no VLAN devices: " << made.output;
  space_->ip("address add 198.51.100.1/24 dev va.5");
  const json rows = json::parse(gids("--json").output);
  int found = 0;
  for (const json& row : rows) {
    EXPECT_NE(row.at("device"), "va.5");
    if (row.at("netdev") != "va.5") continue;
    ++found;
    EXPECT_EQ(row.at("device"), "va");
    EXPECT_EQ(row.at("vlan"), 5);
    EXPECT_EQ(row.at("ipv4"), "198.51.100.1");
  }
  EXPECT_EQ(found, 2);
}

TEST_F(GidsTest, OfAllInterfacesAreThoseOfEach) {
  const json all = json::parse(gids("--json").output);
  json together = json::array();
  for (const char* name : {"lo", "vb", "va"}) {
    for (const json& row : json::parse(gids("--json -i " + std::string{name}).output)) together.push_back(row);
  }
  EXPECT_EQ(all, together);
  EXPECT_EQ(all.size(), 8u);
}

TEST_F(GidsTest, OfAnUnknownInterfaceAreAnErrorThatListsThoseThatThereAre) {
  const CommandOutcome done = gids("-i va0");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(done.output, "roce-gen: there is no network interface 'va0'; there are: lo, vb, va\n");
  EXPECT_EQ(gids("--interfaces va").exit_code, 2);
}

TEST_F(GidsTest, FailWhereTheOutputCannotBeWritten) {
  EXPECT_EQ(gids("-i va > /dev/full").exit_code, 1);
}

}  // namespace
}  // namespace roce::gen::test
