// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/load_names.h"

#include <gmock/gmock.h>

#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Gid kFirstHost = Gid::from_ipv4({{10, 0, 0, 1}});
constexpr Gid kSecondHost = Gid::from_ipv4({{10, 0, 0, 2}});

class LoadNamesTest : public ProgramTest {
 protected:
  static std::string error(const std::string& argument) {
    Names names;
    const auto loaded = load_names(NamesArgument::of(argument), names);
    EXPECT_FALSE(loaded.has_value()) << argument;
    return loaded ? "" : loaded.error();
  }
};

TEST_F(LoadNamesTest, FilesAreRecognisedByWhatIsInThem) {
  Names names;
  const std::string lines = save("lines", "10.0.0.1 host\n");
  const std::string log =
      save("log", "a:1:2 [0] NCCL INFO NET/IB: Dev 0 Port 1 qpn 18 mtu 5 GID 3 (0/200000AFFFF0000) fifoRkey=0x1\n");
  const std::string list = save("list", R"([{"ifname":"mlx5_0","port":1,"lqpn":17,"pid":7,"comm":"x"}])");
  for (const std::string& argument : {lines, log, "10.0.0.1=" + list}) {
    const auto loaded = load_names(NamesArgument::of(argument), names);
    EXPECT_TRUE(loaded.has_value()) << loaded.error();
  }
  EXPECT_EQ(names.text(QpEnd{.address = kFirstHost, .qpn = Qpn{17}}), "host x pid 7 mlx5_0");
  EXPECT_EQ(names.text(QpEnd{.address = kSecondHost, .qpn = Qpn{18}}), "a pid 1 IbDev 0");
}

TEST_F(LoadNamesTest, AListMayBeEmpty) {
  Names names;
  EXPECT_TRUE(load_names(NamesArgument::of("10.0.0.1=" + save("list", "[ ]\n")), names));
  EXPECT_TRUE(names.empty());
}

TEST_F(LoadNamesTest, OtherFilesAreRefused) {
  const std::string bad = save("bad", "x\n");
  EXPECT_THAT(error(bad), StartsWith(bad + ": line 1: "));
  EXPECT_EQ(error(path("none")), "cannot read the names in '" + path("none") + "': No such file or directory");
  EXPECT_THAT(error(path("")), HasSubstr("Is a directory"));
  EXPECT_THAT(error(save("log", "a:1:2 [0] NCCL INFO Bootstrap\n")), HasSubstr("NCCL_DEBUG_SUBSYS=INIT,NET"));
  // A comment is not a log.
  Names names;
  EXPECT_TRUE(load_names(NamesArgument::of(save("comment", "# from NCCL INFO lines\n10.0.0.1 host\n")), names));
  const std::string first = save("first", "10.0.0.1 a\n");
  EXPECT_TRUE(load_names(NamesArgument::of(first), names = Names{}));
  EXPECT_THAT(load_names(NamesArgument::of(save("second", "10.0.0.1 b\n")), names).error(),
              HasSubstr("named 'b' here and 'a' in line 1 of " + first));
  EXPECT_THAT(error(save("list", R"([{"lqpn":17,"comm":"x"}])")),
              HasSubstr("say whose they are, as in --names 192.0.2.1="));
  EXPECT_THAT(error("10.0.0.1=" + save("lines", "10.0.0.1 host\n")), HasSubstr("rdma -j resource show qp"));
}

TEST(NamesArgumentTest, AnAddressMayStandInFront) {
  EXPECT_EQ(NamesArgument::of("10.0.0.1=a/b").path, "a/b");
  EXPECT_EQ(NamesArgument::of("10.0.0.1=a/b").host, kFirstHost);
  EXPECT_EQ(NamesArgument::of("a=b").path, "a=b");
  EXPECT_FALSE(NamesArgument::of("a=b").host);
  EXPECT_EQ(NamesArgument::of("10.0.0.0/8=b").path, "10.0.0.0/8=b");
}

}  // namespace
}  // namespace roce::analyze::test
