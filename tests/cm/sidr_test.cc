// SPDX-License-Identifier: BSD-2-Clause
// Resolving a datagram service to its QP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_manager.h"
#include "two_managers.h"

namespace roce::cm::test {
namespace {

using ::testing::ElementsAre;
using enum MadAttribute;
using transport::VerbErrorCode;

constexpr ServiceId kDatagrams{PortSpace::udp, 7174};

/// Two managers, of which `b` listens for datagrams and answers with QP 0x33.
struct Pair : TwoManagers {
  explicit Pair(Plan plan = {}) : TwoManagers(std::move(plan)) {
    (void)b.listen(kDatagrams);
    resolution.qpn = Qpn{0x33};
    resolution.q_key = QKey{0x01234567};
  }
  CommId ask(ServiceId service = kDatagrams) {
    ResolveRequest question;
    question.peer = request().peer;
    question.service = service;
    question.private_data = request().private_data;
    return a.resolve(question, now).value();
  }
};

TwoManagers::Plan first(MadAttribute which, Fate fate) {
  return
      [=](MadAttribute attribute, unsigned count) { return attribute == which && count == 1 ? fate : Fate::arrives; };
}

TEST(CmSidr, AnswersWithQpAndKey) {
  Pair pair;
  pair.ask();
  pair.run();
  EXPECT_THAT(pair.sent, ElementsAre("a SIDR_REQ", "b SIDR_REP"));
  EXPECT_THAT(pair.events_a, ElementsAre("resolved 0"));
  EXPECT_THAT(pair.events_b, ElementsAre("resolve_request"));
  EXPECT_EQ(pair.resolved.qpn, Qpn{0x33});
  EXPECT_EQ(pair.resolved.q_key, QKey{0x01234567});
  EXPECT_EQ(pair.resolved.service_id, kDatagrams);
  EXPECT_EQ(pair.a.connections() + pair.b.connections(), 0U);
}

TEST(CmSidr, SaysWhyThereIsNone) {
  Pair nobody;
  nobody.ask(ServiceId{PortSpace::udp, 1});
  nobody.run();
  EXPECT_THAT(nobody.events_a, ElementsAre("resolved 1"));
  EXPECT_THAT(nobody.events_b, ElementsAre());
  Pair unwilling;
  unwilling.resolution.status = CmSidrStatus::rejected;
  unwilling.ask();
  unwilling.run();
  EXPECT_THAT(unwilling.events_a, ElementsAre("resolved 2"));
  EXPECT_EQ(unwilling.resolved.qpn, Qpn{}) << "nothing is given away";
}

class CmSidrFault : public ::testing::TestWithParam<std::tuple<MadAttribute, Fate>> {};

INSTANTIATE_TEST_SUITE_P(EachMessage, CmSidrFault,
                         ::testing::Combine(::testing::Values(cm_sidr_req, cm_sidr_rep),
                                            ::testing::Values(Fate::lost, Fate::doubled, Fate::late)));

TEST_P(CmSidrFault, OfOneMessageChangesNothingForWhoAsks) {
  const auto [which, fate] = GetParam();
  Pair pair{first(which, fate)};
  pair.ask();
  pair.run();
  EXPECT_THAT(pair.events_a, ElementsAre("resolved 0"));
  EXPECT_EQ(pair.a.connections() + pair.b.connections(), 0U);
}

TEST(CmSidr, IsGivenUpAfterAllRetries) {
  Pair pair{[](MadAttribute, unsigned) { return Fate::lost; }};
  pair.ask();
  pair.run();
  EXPECT_THAT(pair.events_a, ElementsAre("unreachable"));
  EXPECT_EQ(pair.sent.size(), 16U);
  EXPECT_EQ(pair.now, Time{std::chrono::milliseconds{16 * 4096}}) << "CM-SIDR-1";
}

TEST(CmSidr, AQuestionThatComesAgainIsAskedOnce) {
  OneManager one;
  ASSERT_TRUE(one.manager.listen(kDatagrams));
  CmSidrReq req;
  req.request_id = 9;
  req.service_id = kDatagrams;
  const std::vector<std::byte> data = rdma_ip_data();
  std::ranges::copy(data, req.private_data.begin());
  one.receive(cm_sidr_req, req);
  one.receive(cm_sidr_req, req);
  EXPECT_EQ(one.take_events(), "resolve_request");
  EXPECT_EQ(one.manager.counters().of(Ignored::duplicate), 1U);
  EXPECT_EQ(one.state(), State::sidr_req_received);
  EXPECT_EQ(one.manager.accept(one.connection, {.qpn = Qpn{5}}, one.now).error().code, VerbErrorCode::wrong_state);
  ASSERT_TRUE(one.manager.abandon(one.connection, one.now));
  EXPECT_EQ(one.take_sent(), "SIDR_REP");
  EXPECT_EQ(read<CmSidrRep>(one.last_sent[0].mad.data() + kSize<Mad>).status, CmSidrStatus::rejected);
  EXPECT_EQ(one.manager.answer(one.connection, {}, one.now).error().code, VerbErrorCode::unknown_handle);
  one.receive(cm_sidr_req, req);
  EXPECT_EQ(one.take_events(), "resolve_request") << "after the answer it is a new one";
}

TEST(CmSidr, WithoutAnRdmaIpHeaderIsRejected) {
  OneManager one;
  ASSERT_TRUE(one.manager.listen(kDatagrams));
  CmSidrReq req;
  req.request_id = 9;
  req.service_id = kDatagrams;
  req.private_data[0] = std::byte{0x10};
  one.receive(cm_sidr_req, req);
  EXPECT_EQ(one.take_sent(), "SIDR_REP");
  EXPECT_EQ(read<CmSidrRep>(one.last_sent[0].mad.data() + kSize<Mad>).status, CmSidrStatus::rejected);
  one.receive(cm_sidr_rep, CmSidrRep{});
  EXPECT_EQ(one.manager.counters().of(Ignored::unknown_connection), 1U);
}

}  // namespace
}  // namespace roce::cm::test
