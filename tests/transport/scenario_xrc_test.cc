// SPDX-License-Identifier: BSD-2-Clause
// XRC: one connection, and behind its target several SRQs, each with a PD and a CQ of its own.
#include <gmock/gmock.h>

#include <functional>

#include "forger.h"
#include "roce/wire/xrceth.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using transport::Completion;
using transport::CompletionStatus;
using transport::EventType;
using transport::QpState;
using transport::QpType;
using transport::VerbErrorCode;
using transport::WorkOpcode;

constexpr std::uint32_t kReceives = 8;

/// A program at the target's host: memory in a PD of its own, and an SRQ.
struct Service {
  Service(const Host& host, transport::Xrcd xrcd) : endpoint(host) {
    srq = must(host->create_xrc_srq(
        {.pd = endpoint.pd(), .xrcd = xrcd, .cq = endpoint.receive_cq(), .capacity = kReceives, .max_sge = 2}));
    number = must(host->xrc_srq_number(srq));
  }
  void post_receive(std::uint64_t offset, std::uint32_t length, std::uint64_t id) {
    const std::array<transport::Sge, 1> sges{{{endpoint.address(offset), length, endpoint.info().l_key}}};
    must(endpoint.device().post_srq_receive(srq, {.wr_id = id, .sges = sges}));
  }

  Endpoint endpoint;  // its QP takes no part
  transport::Srq srq{};
  XrcSrqn number{};
};

/// An initiator on one host; on the other a target, and two services in its domain.
struct XrcPair {
  XrcPair(const transport::Profile& profile, const std::string& impair)
      : XrcPair(Host::Options{.profile = profile}, impair) {}
  XrcPair(const Host::Options& options, const std::string& impair)
      : a_host(network, options),
        b_host(network, options),
        a(a_host, {.type = QpType::xrc_initiator}),
        xrcd(must(b_host->create_xrcd())),
        target(must(b_host->create_qp({.type = QpType::xrc_target, .xrcd = xrcd}))) {
    network.connect(a_host.node(), b_host.node(), {.impair = impair});
    for (Service* service : {&first, &second}) Random(service->number.value()).fill(service->endpoint.memory());
    Random(3).fill(a.memory());
    connect();
  }

  void modify_target(const transport::QpChange& change) { must(b_host->modify_qp(target, change, network.now())); }
  void connect() {
    // Soft-RoCE takes the largest count, 7, for any number of retries.
    const Connection connection{.retry_count = 6};
    a.modify(to_init(connection, QpType::rc));
    modify_target(to_init(connection, QpType::rc));
    transport::QpChange to_target = to_rtr(connection, first.endpoint, connection.b_psn, QpType::rc);
    to_target.dest_qp = target;
    to_target.max_dest_rd_atomic.reset();
    to_target.min_rnr_timer.reset();
    a.modify(to_target);
    modify_target(to_rtr(connection, a, connection.a_psn, QpType::rc));
    a.modify(to_rts(connection, connection.a_psn, QpType::rc));
  }
  /// Posts a request for a service.
  std::uint64_t post(const Service& service, Work work) {
    a.set_peer(service.endpoint);
    work.xrc_srq = service.number;
    return a.post(work);
  }
  [[nodiscard]] QpState target_state() { return must(b_host->query_qp(target)).state; }

  SimNetwork network;
  Host a_host;
  Host b_host;
  Endpoint a;
  transport::Xrcd xrcd;
  Qpn target;
  Service first{b_host, xrcd};
  Service second{b_host, xrcd};
};

class XrcScenario : public ScenarioTest {};
ROCE_UNDER_EACH_PROFILE(XrcScenario);

TEST_P(XrcScenario, EachRequestIsForTheSrqThatItNames) {
  // Each packet of either direction is lost once.
  for (const std::string direction : {"a_to_b", "b_to_a"}) {
    for (int lost = 0; lost <= 14; ++lost) {
      SCOPED_TRACE(testing::Message() << "packet " << lost << " lost " << direction);
      XrcPair pair{profile(), "drop:dir=" + direction + ",nth=" + std::to_string(lost == 0 ? 1000 : lost)};
      for (Service* service : {&pair.first, &pair.second}) {
        for (std::uint64_t id = 1; id <= 2; ++id) service->post_receive(id * 8192, 8192, id);
      }
      std::vector<std::uint64_t> ids;
      for (const Service* service : {&pair.second, &pair.first}) {
        ids.push_back(pair.post(*service, {.length = 2500}));
        ids.push_back(pair.post(*service, {.opcode = WorkOpcode::write, .length = 1500, .remote = 100}));
        ids.push_back(pair.post(
            *service, {.opcode = WorkOpcode::write_with_immediate, .length = 8, .remote = 40000, .immediate = 7}));
        ids.push_back(
            pair.post(*service, {.opcode = WorkOpcode::read, .length = 2100, .local = 60000, .remote = 50000}));
        ids.push_back(pair.post(
            *service, {.opcode = WorkOpcode::fetch_add, .length = 8, .local = 70000, .remote = 64, .compare_add = 5}));
        ASSERT_TRUE(pair.network.run_until_idle());
        const Endpoint& there = service->endpoint;
        EXPECT_TRUE(std::ranges::equal(pair.a.memory(0, 2500), there.memory(8192, 2500)));
        EXPECT_TRUE(std::ranges::equal(pair.a.memory(0, 1500), there.memory(100, 1500)));
        EXPECT_TRUE(std::ranges::equal(pair.a.memory(0, 8), there.memory(40000, 8)));
        EXPECT_TRUE(std::ranges::equal(pair.a.memory(60000, 2100), there.memory(50000, 2100)));
      }
      std::vector<testing::Matcher<const Completion&>> done;
      for (const std::uint64_t id : ids) done.emplace_back(Succeeded(id));
      EXPECT_THAT(pair.a.sent(), testing::ElementsAreArray(done));
      for (Service* service : {&pair.first, &pair.second}) {
        EXPECT_THAT(service->endpoint.received(), ElementsAre(Succeeded(1), Succeeded(2)));
        EXPECT_THAT(service->endpoint.received(), testing::Each(Field(&Completion::qpn, pair.target)));
      }
    }
  }
}

TEST_P(XrcScenario, RequestsHaveAnXrcethAndResponsesNone) {
  XrcPair pair{profile(), ""};
  pair.network.keep_trace(Tap::sent);
  pair.first.post_receive(0, 4096, 1);
  pair.post(pair.first, {.length = 2049});
  pair.post(pair.first, {.opcode = WorkOpcode::read, .length = 1025});
  pair.post(pair.first, {.opcode = WorkOpcode::compare_swap, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  std::size_t requests = 0;
  for (const TraceFrame& frame : pair.network.trace()) {
    const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
    ASSERT_EQ(packet.info().service, roce::Service::xrc);
    EXPECT_THAT(frame, HasGoodIcrc());
    const std::optional<XrcEth> header = packet.get<XrcEth>();
    EXPECT_EQ(header.has_value(), !packet.info().is_response());
    if (!header) continue;
    ++requests;
    EXPECT_EQ(header->xrc_srq, pair.first.number);
  }
  EXPECT_EQ(requests, 5U);
  EXPECT_GT(pair.network.trace().size(), requests);
}

TEST_P(XrcScenario, AnSrqThatTheTargetMayNotUseRefusesTheRequest) {
  const std::vector<std::function<XrcSrqn(XrcPair&)>> wrong{[](XrcPair&) { return XrcSrqn{0x123456}; },
                                                            [](XrcPair& pair) {
                                                              const transport::Xrcd other =
                                                                  must(pair.b_host->create_xrcd());
                                                              return Service{pair.b_host, other}.number;
                                                            },
                                                            [](XrcPair& pair) {
                                                              must(pair.b_host->destroy_srq(pair.second.srq));
                                                              return pair.second.number;
                                                            }};
  for (const auto& number : wrong) {
    for (const WorkOpcode opcode : {WorkOpcode::send, WorkOpcode::write, WorkOpcode::read}) {
      XrcPair pair{profile(), ""};
      pair.a.set_peer(pair.first.endpoint);
      const std::uint64_t id = pair.a.post({.opcode = opcode, .length = 8, .xrc_srq = number(pair)});
      ASSERT_TRUE(pair.network.run_until_idle());
      EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_invalid_request)));
      EXPECT_EQ(pair.target_state(), QpState::err);
      EXPECT_EQ(pair.b_host.count_events(EventType::qp_request_error), 1U);
      EXPECT_EQ(pair.b_host.count_events(EventType::last_wqe_reached), 0U);
    }
  }
}

TEST_P(XrcScenario, MemoryIsThatOfThePdOfTheSrq) {
  for (const WorkOpcode opcode : {WorkOpcode::write, WorkOpcode::read, WorkOpcode::fetch_add}) {
    XrcPair pair{profile(), ""};
    const std::uint64_t id =
        pair.post(pair.first, {.opcode = opcode, .length = 8, .r_key = pair.second.endpoint.info().r_key});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
  }
}

TEST_P(XrcScenario, AReadAnswersFromThePdThatItWasAskedOf) {
  // The response of the READ is sent after the request for the other PD has come, the first time or once more.
  for (const std::string lost : {"1000", "1"}) {
    XrcPair pair{profile(), "drop:dir=b_to_a,nth=" + lost};
    must(pair.b_host->set_paused(0, true));
    pair.second.post_receive(0, 64, 1);
    pair.post(pair.first, {.opcode = WorkOpcode::read, .length = 100'000, .local = 100'000});
    pair.post(pair.second, {.length = 8});
    pair.network.after(std::chrono::milliseconds{1}, [&] { must(pair.b_host->set_paused(0, false)); });
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(1), Succeeded(2)));
    EXPECT_TRUE(std::ranges::equal(pair.a.memory(100'000, 100'000), pair.first.endpoint.memory(0, 100'000)));
  }
}

TEST_P(XrcScenario, AnSrqWithoutAReceiveIsNotReady) {
  XrcPair pair{profile(), ""};
  pair.second.post_receive(0, 64, 1);
  const std::uint64_t id = pair.post(pair.first, {.length = 8});
  pair.network.after(std::chrono::milliseconds{2}, [&] { pair.first.post_receive(0, 64, 9); });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_THAT(pair.first.endpoint.received(), ElementsAre(Succeeded(9)));
  EXPECT_THAT(pair.second.endpoint.received(), IsEmpty());
  EXPECT_GT(pair.a.counters().rnr_naks_received, 0U);
}

TEST_P(XrcScenario, AnSrqThatGoesAwayInsideAMessageRefusesTheRest) {
  XrcPair pair{profile(), ""};
  pair.first.post_receive(0, 200'000, 1);
  const std::uint64_t id = pair.post(pair.first, {.length = 200'000});
  ASSERT_TRUE(pair.network.run_until([&] { return must(pair.b_host->counters(pair.target)).received_packets > 10; },
                                     "the message has begun"));
  must(pair.b_host->destroy_srq(pair.first.srq));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_invalid_request)));
  EXPECT_THAT(pair.first.endpoint.received(), IsEmpty());
}

TEST_P(XrcScenario, AReceiveThatIsTooShortEndsAtTheSrq) {
  XrcPair pair{profile(), ""};
  pair.first.post_receive(0, 64, 1);
  pair.post(pair.first, {.length = 65});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.first.endpoint.received(), ElementsAre(Ended(1, profile().short_receive_status)));
  EXPECT_EQ(pair.target_state(), QpState::err);
}

TEST_P(XrcScenario, AFullCqOfAnSrqStopsTheTarget) {
  XrcPair pair{profile(), ""};
  const transport::Cq small = must(pair.b_host->create_cq(1));
  const transport::Srq srq = must(pair.b_host->create_xrc_srq(
      {.pd = pair.first.endpoint.pd(), .xrcd = pair.xrcd, .cq = small, .capacity = 4, .max_sge = 1}));
  for (int i = 0; i < 3; ++i) must(pair.b_host->post_srq_receive(srq, {}));
  for (int i = 0; i < 3; ++i) pair.a.post({.xrc_srq = must(pair.b_host->xrc_srq_number(srq))});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.target_state(), QpState::err);
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_overflow), 1U);
}

TEST_P(XrcScenario, AnEndTakesOnlyWhatIsForIt) {
  XrcPair pair{profile(), ""};
  pair.first.post_receive(0, 64, 1);
  const Connection connection;
  const Forger to_initiator{pair.first.endpoint, pair.a};
  for (const Opcode opcode : {Opcode::xrc_send_only, Opcode::xrc_read_request, Opcode::rc_acknowledge}) {
    to_initiator.send(opcode, connection.b_psn.value());
  }
  const Forger to_target{pair.a, pair.first.endpoint};
  const std::string target = std::to_string(pair.target.value());
  for (const Opcode opcode : {Opcode::xrc_acknowledge, Opcode::xrc_read_response_only, Opcode::rc_send_only}) {
    to_target.send(opcode, connection.a_psn.value(), {{"bth.dest_qp", target}});
  }
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a.counters().wrong_state, 3U);
  EXPECT_EQ(must(pair.b_host->counters(pair.target)).wrong_state, 3U);
  pair.post(pair.first, {.length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.first.endpoint.received(), ElementsAre(Succeeded(1)));
}

TEST(XrcVerbs, OfTheOtherEndAreRefused) {
  XrcPair pair{transport::strict_profile(), ""};
  transport::Device& b = pair.b_host.device();
  const auto expect_error = [](const auto& result, VerbErrorCode code, const std::string& text) {
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, code);
    EXPECT_THAT(to_string(result.error()), HasSubstr(text));
  };
  expect_error(b.post_send(pair.target, {}), VerbErrorCode::wrong_type,
               "qp: found XRC target, needs a QP that sends requests");
  expect_error(b.post_receive(pair.target, {}), VerbErrorCode::wrong_type, "post_srq_receive");
  expect_error(pair.a.device().post_receive(pair.a.qpn(), {}), VerbErrorCode::wrong_type, "post_srq_receive");
  expect_error(b.destroy_xrcd(pair.xrcd), VerbErrorCode::in_use, "xrcd");
  expect_error(b.destroy_cq(pair.first.endpoint.receive_cq()), VerbErrorCode::in_use, "cq");
  expect_error(b.create_qp({.type = QpType::xrc_target}), VerbErrorCode::unknown_handle, "xrcd");
  expect_error(b.create_qp({.type = QpType::xrc_target, .xrcd = pair.xrcd, .srq = pair.first.srq}),
               VerbErrorCode::invalid_argument, "srq");
  const Endpoint& plain = pair.first.endpoint;
  expect_error(
      b.create_qp(
          {.pd = plain.pd(), .send_cq = plain.send_cq(), .receive_cq = plain.receive_cq(), .srq = pair.first.srq}),
      VerbErrorCode::invalid_argument, "srq");
  const transport::Srq srq = must(b.create_srq(plain.pd(), 1, 1));
  expect_error(b.xrc_srq_number(srq), VerbErrorCode::invalid_argument, "an SRQ for XRC");
  must(b.destroy_srq(srq));
}

TEST(XrcVerbs, WhatAnEndHasNoUseForMayBeDestroyed) {
  XrcPair pair{transport::strict_profile(), ""};
  transport::Device& b = pair.b_host.device();
  const transport::Cq cq = must(b.create_cq(1));
  const transport::Cq used = must(b.create_cq(1));
  const Qpn target =
      must(b.create_qp({.type = QpType::xrc_target, .send_cq = cq, .receive_cq = cq, .xrcd = pair.xrcd}));
  const Qpn initiator = must(
      b.create_qp({.type = QpType::xrc_initiator, .pd = pair.first.endpoint.pd(), .send_cq = used, .receive_cq = cq}));
  EXPECT_TRUE(b.destroy_cq(cq));
  EXPECT_FALSE(b.destroy_cq(used)) << "an initiator completes its requests there";
  for (const Qpn qp : {target, initiator}) {
    EXPECT_TRUE(b.modify_qp(qp, {.state = QpState::err}, Time{}));
    EXPECT_TRUE(b.modify_qp(qp, {.state = QpState::reset}, Time{}));
    EXPECT_TRUE(b.destroy_qp(qp));
  }
  EXPECT_TRUE(b.destroy_cq(used));
}

TEST(XrcVerbs, EachEndHasItsAttributes) {
  XrcPair pair{transport::strict_profile(), ""};
  const Connection connection;
  must(pair.b_host->modify_qp(pair.target, {.state = QpState::reset}, Time{}));
  pair.modify_target(to_init(connection, QpType::rc));
  transport::QpChange to_target = to_rtr(connection, pair.a, connection.a_psn, QpType::rc);
  to_target.min_rnr_timer.reset();
  EXPECT_FALSE(pair.b_host->modify_qp(pair.target, to_target, Time{})) << "a target answers with a timer";
  pair.modify_target(to_rtr(connection, pair.a, connection.a_psn, QpType::rc));
  transport::QpChange to_target_rts = to_rts(connection, Psn{1}, QpType::rc);
  to_target_rts.timeout.reset();
  EXPECT_FALSE(pair.b_host->modify_qp(pair.target, to_target_rts, Time{}));
  pair.modify_target({.state = QpState::rts, .sq_psn = Psn{1}, .timeout = 14});
  // Attributes of the other end are taken all the same.
  pair.modify_target({.state = QpState::reset});
  pair.modify_target(to_init(connection, QpType::rc));
  pair.modify_target(to_rtr(connection, pair.a, connection.a_psn, QpType::rc));
  pair.modify_target(to_rts(connection, Psn{1}, QpType::rc));
}

TEST(XrcVerbs, AllIsGivenBack) {
  XrcPair pair{transport::strict_profile(), ""};
  transport::Device& b = pair.b_host.device();
  pair.first.post_receive(0, 64, 1);
  pair.post(pair.first, {.length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  for (const Service* service : {&pair.first, &pair.second}) {
    must(b.destroy_srq(service->srq));
    must(b.destroy_qp(service->endpoint.qpn()));
    must(b.destroy_cq(service->endpoint.receive_cq()));
  }
  must(b.destroy_qp(pair.target));
  must(b.destroy_xrcd(pair.xrcd));
}

}  // namespace
}  // namespace roce::sim
