// SPDX-License-Identifier: BSD-2-Clause
// Controllers by name, and the errors about their parameters.
#include "roce/congestion/choice.h"

#include <gmock/gmock.h>

namespace roce::congestion {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

template <typename P>
P read_as(std::string_view text) {
  const auto choice = parse_choice(text);
  EXPECT_TRUE(choice) << choice.error();
  return choice && std::holds_alternative<P>(*choice) ? std::get<P>(*choice) : P{};
}

std::string error_of(std::string_view text) {
  const auto choice = parse_choice(text);
  EXPECT_FALSE(choice) << text;
  return choice ? "" : choice.error();
}

TEST(ControllerChoice, EachHasItsName) {
  for (const std::string_view name : {"none", "dcqcn", "dcqcn_mlx5", "rtt"}) {
    const auto choice = parse_choice(name);
    ASSERT_TRUE(choice) << choice.error();
    EXPECT_EQ(name_of(*choice), name);
    EXPECT_EQ(make_control(*choice) == nullptr, name == "none");
  }
  EXPECT_EQ(read_as<FixedParameters>("fixed,rate=2.5Gbit").rate_bps, 2'500'000'000U);
}

TEST(ControllerChoice, ParametersAreRead) {
  const auto dcqcn = read_as<DcqcnParameters>(
      "dcqcn, g=0.5,alpha_timer=60us,rate_timer=1ms,byte_counter=150000,f=4,ai=10Mbit,hai=1Gbit,min_rate=2Mbit,"
      "max_rate=25Gbit,initial_alpha=0.25,burst=16384,alpha_before_cut=true,hyper_from_next=1,hyper_halves_bytes=true,"
      "recovers_after_cut=true");
  EXPECT_EQ(dcqcn.g, 0.5);
  EXPECT_EQ(dcqcn.alpha_timer, 60us);
  EXPECT_EQ(dcqcn.rate_timer, 1ms);
  EXPECT_EQ(dcqcn.byte_counter, 150'000U);
  EXPECT_EQ(dcqcn.f, 4U);
  EXPECT_EQ(dcqcn.ai_bps, 10'000'000U);
  EXPECT_EQ(dcqcn.hai_bps, 1'000'000'000U);
  EXPECT_EQ(dcqcn.min_rate_bps, 2'000'000U);
  EXPECT_EQ(dcqcn.max_rate_bps, 25'000'000'000U);
  EXPECT_EQ(dcqcn.initial_alpha, 0.25);
  EXPECT_EQ(dcqcn.burst_bytes, 16'384U);
  EXPECT_TRUE(dcqcn.alpha_before_cut && dcqcn.hyper_from_next && dcqcn.hyper_halves_bytes && dcqcn.recovers_after_cut);
  EXPECT_EQ(read_as<RttParameters>("rtt,t_low=10us,add=5Mbit").t_low, 10us);
}

TEST(ControllerChoice, AConnectXIsReadAsItsToolsPrintIt) {
  const auto mlxconfig = read_as<Mlx5Parameters>(
      "dcqcn_mlx5\n"
      "        CLAMP_TGT_RATE_AFTER_TIME_INC_P1            False(0)            \n"
      "        RPG_TIME_RESET_P1                           100                 \n"
      "        MIN_TIME_BETWEEN_CNPS_P1                    2\n"
      "        CNP_DSCP_P1                                 46\n");
  EXPECT_FALSE(mlxconfig.clamp_tgt_rate_after_time_inc);
  EXPECT_EQ(mlxconfig.rpg_time_reset, 100U);
  EXPECT_EQ(mlxconfig.min_time_between_cnps, 2U);
  EXPECT_EQ(mlxconfig.cnp_dscp, 46U);
  EXPECT_EQ(mlxconfig.cnp_802p_prio, std::nullopt);

  const auto sysfs = read_as<Mlx5Parameters>(
      "dcqcn_mlx5\n/sys/class/net/eth0/ecn/roce_rp/rpg_ai_rate:10\n/sys/class/net/eth0/ecn/roce_rp/dce_tcp_g:1000\n");
  EXPECT_EQ(sysfs.rpg_ai_rate, 10U);
  EXPECT_EQ(sysfs.dce_tcp_g, 1000U);

  const auto debugfs = read_as<Mlx5Parameters>("dcqcn_mlx5,rp_gd=8,rp_clamp_tgt_rate_ati=0,rp_clamp_tgt_rate=1");
  EXPECT_EQ(debugfs.rpg_gd, 8U);
  EXPECT_FALSE(debugfs.clamp_tgt_rate_after_time_inc);
  EXPECT_TRUE(debugfs.clamp_tgt_rate);
}

TEST(ControllerChoice, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of("dctcp"), "expected none, fixed, dcqcn, dcqcn_mlx5 or rtt, found 'dctcp'");
  EXPECT_EQ(error_of(""), "expected none, fixed, dcqcn, dcqcn_mlx5 or rtt, found ''");
  EXPECT_EQ(error_of("none,g=1"), "none: has no parameters, found 'g=1'");
  EXPECT_EQ(error_of("fixed"), "fixed: needs rate, such as rate=2.5Gbit");
  EXPECT_EQ(error_of("dcqcn,g"), "dcqcn: expected NAME=VALUE, found 'g'");
  EXPECT_EQ(error_of("dcqcn,g=0"), "dcqcn: g: expected a number above 0 and up to 1, found '0'");
  EXPECT_EQ(error_of("dcqcn,g=nan"), "dcqcn: g: expected a number above 0 and up to 1, found 'nan'");
  EXPECT_EQ(error_of("dcqcn,rate_timer=0us"), "dcqcn: rate_timer: expected a time from 1us to 1s, found '0us'");
  EXPECT_EQ(error_of("dcqcn,ai=40"), "dcqcn: ai: expected a rate from 1Mbit to 10000Gbit, such as 2.5Gbit, found '40'");
  EXPECT_EQ(error_of("dcqcn,g=0.1,g=0.2"), "dcqcn: g is there twice");
  EXPECT_EQ(error_of("dcqcn,min_rate=2Gbit,max_rate=1Gbit"), "dcqcn: min_rate is above max_rate");
  EXPECT_EQ(error_of("dcqcn_mlx5,RPG_GD_P1=11,RPG_GD_P2=11"),
            "dcqcn_mlx5: rpg_gd is there twice; give it for one port only");
  EXPECT_EQ(error_of("dcqcn_mlx5,rpg_gd=16"), "dcqcn_mlx5: rpg_gd: expected 0 … 15, found '16'");
  EXPECT_EQ(error_of("dcqcn_mlx5,rpg_min_rate=5,rpg_max_rate=4"), "dcqcn_mlx5: rpg_min_rate is above rpg_max_rate");
  EXPECT_EQ(error_of("rtt,t_low=600us"), "rtt: t_low is above t_high");
  EXPECT_THAT(error_of("dcqcn,gain=1"), HasSubstr("dcqcn has no parameter 'gain'; it has g, alpha_timer, rate_timer"));
}

}  // namespace
}  // namespace roce::congestion
