// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/link_plan.h"

#include <gmock/gmock.h>

namespace roce::live {
namespace {

using ::testing::HasSubstr;
using Kind = LinkPlan::Kind;

LinkPlan plan(const LinkNeeds& needs) {
  const Result<LinkPlan> planned = plan_link(needs);
  EXPECT_TRUE(planned) << planned.error().message;
  return planned.value_or(LinkPlan{});
}

std::string refusal(const LinkNeeds& needs) {
  const Result<LinkPlan> planned = plan_link(needs);
  EXPECT_FALSE(planned);
  return planned ? "" : planned.error().message;
}

TEST(LinkPlan, IsTheRawLinkAndUdpWhereThatIsNotAllowed) {
  EXPECT_EQ(plan({}), (LinkPlan{Kind::raw, true, ""}));
}

TEST(LinkPlan, NamesWhatUdpCannotDo) {
  EXPECT_EQ(plan({.own_address = true}), (LinkPlan{Kind::raw, false, "an address of its own (ip) needs"}));
  EXPECT_EQ(plan({.shards = 2}), (LinkPlan{Kind::raw, false, "shards need"}));
  EXPECT_EQ(plan({.roce_v1 = true}), (LinkPlan{Kind::raw, false, "RoCE v1 needs"}));
  EXPECT_EQ(plan({.vlan = true}), (LinkPlan{Kind::raw, false, "a VLAN needs"}));
  EXPECT_EQ(plan({.dcbx = true}), (LinkPlan{Kind::raw, false, "DCBX needs"}));
}

TEST(LinkPlan, IsTheLinkThatWasAskedFor) {
  EXPECT_EQ(plan({.choice = LinkChoice::raw}), (LinkPlan{Kind::raw, false, ""}));
  EXPECT_EQ(plan({.choice = LinkChoice::udp}), (LinkPlan{Kind::udp, false, ""}));
  EXPECT_EQ(plan({.choice = LinkChoice::xdp, .xdp_settings = true}), (LinkPlan{Kind::xdp, false, ""}));
  EXPECT_EQ(plan({.choice = LinkChoice::stream, .has_link = true, .own_address = true}),
            (LinkPlan{Kind::given, false, ""}));
}

TEST(LinkPlan, IsRefusedWhereTheLinkCannotDoIt) {
  EXPECT_THAT(refusal({.choice = LinkChoice::udp, .own_address = true}), HasSubstr("has the host's addresses only"));
  EXPECT_THAT(refusal({.choice = LinkChoice::udp, .roce_v1 = true}), HasSubstr("RoCE v2 only"));
  EXPECT_THAT(refusal({.choice = LinkChoice::udp, .vlan = true}), HasSubstr("does not choose VLANs"));
  EXPECT_THAT(refusal({.choice = LinkChoice::udp, .dcbx = true}), HasSubstr("use the raw link, or leave out dcbx"));
  EXPECT_THAT(refusal({.choice = LinkChoice::xdp, .dcbx = true}), HasSubstr("use the raw link, or leave out dcbx"));
  EXPECT_THAT(refusal({.choice = LinkChoice::raw, .xdp_settings = true}), HasSubstr("are for the XDP link"));
  EXPECT_THAT(refusal({.has_link = true, .xdp_settings = true}), HasSubstr("are for the XDP link"));
}

}  // namespace
}  // namespace roce::live
