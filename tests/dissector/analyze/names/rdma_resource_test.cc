// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/rdma_resource.h"

#include <gmock/gmock.h>

#include <string>

namespace roce::analyze::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Gid kListedHost = Gid::from_ipv4({{10, 0, 0, 1}});
constexpr std::string_view kList = R"([
  {"ifindex":0,"ifname":"mlx5_0","port":1,"lqpn":1,"type":"GSI","state":"RTS","sq-psn":0,"comm":"ib_core"},
  {"ifindex":0,"ifname":"mlx5_0","port":1,"lqpn":17,"rqpn":18,"type":"RC","state":"RTS","rq-psn":5,"sq-psn":6,
   "path-mig-state":"MIGRATED","pdn":12,"pid":1234,"comm":"ib_write_bw"},
  {"ifindex":1,"ifname":"mlx5_1","lqpn":19,"rqpn":0,"type":"RC","state":"RESET","pid":99,"comm":"idle"}])";

Names names_of(std::string_view text) {
  Names names;
  const auto suggested = suggest_from_rdma_resource(text, "qps", kListedHost, names);
  EXPECT_TRUE(suggested.has_value()) << (suggested ? "" : suggested.error());
  return names;
}

std::string error(std::string_view text) {
  Names names;
  const auto suggested = suggest_from_rdma_resource(text, "qps", kListedHost, names);
  EXPECT_FALSE(suggested.has_value()) << text;
  return suggested ? "" : suggested.error();
}

TEST(RdmaResource, NamesAllQpsOfAHost) {
  const Names names = names_of(kList);
  EXPECT_EQ(names.find(QpEnd{.address = kListedHost, .qpn = Qpn{17}}), "ib_write_bw pid 1234 mlx5_0");
  EXPECT_EQ(names.find(QpEnd{.address = kListedHost, .qpn = Qpn{1}}), "ib_core mlx5_0");
  EXPECT_EQ(names.find(QpEnd{.address = kListedHost, .qpn = Qpn{19}}), "idle pid 99 mlx5_1");
  EXPECT_EQ(names.find(QpEnd{.address = Gid::from_ipv4({{10, 0, 0, 2}}), .qpn = Qpn{17}}), "");
}

TEST(RdmaResource, NamesHaveNoControlCharacters) {
  const Names names = names_of(R"([{"lqpn":17,"comm":"a\u001b[31m"}])");
  EXPECT_EQ(names.find(QpEnd{.address = kListedHost, .qpn = Qpn{17}}), "a.[31m");
}

TEST(RdmaResource, OtherListsAreRefused) {
  EXPECT_THAT(error("[{\"lqpn\":17"), StartsWith("qps: byte 12: not a list of QPs as `rdma -j resource show qp`"));
  EXPECT_THAT(error("{}"), HasSubstr("found an object"));
  EXPECT_THAT(error("[17]"), HasSubstr("entry 1: "));
  EXPECT_THAT(error(R"([{"lqpn":17},{"lqpn":"17"}])"), HasSubstr("entry 2: "));
  EXPECT_THAT(error(R"([{"lqpn":16777216}])"), HasSubstr("expected an object with a number 'lqpn'"));
  EXPECT_THAT(error(std::string(100, '[')), HasSubstr("byte "));
}

}  // namespace
}  // namespace roce::analyze::test
