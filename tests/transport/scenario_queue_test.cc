// SPDX-License-Identifier: BSD-2-Clause
// Queues that run full or empty: draining the send queue, SRQ limit and last WQE, CQ overflow and notification.
#include <gmock/gmock.h>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::EventType;
using transport::QpState;
using transport::WorkOpcode;

class QueueScenario : public ScenarioTest {
 protected:
  static Pair::Options options() { return Pair::with(profile()); }
};

TEST_P(QueueScenario, SqdFinishesWhatBeganTellsSoAndHoldsBackTheRest) {
  Pair::Options options = QueueScenario::options();
  options.link.delay = 50us;
  Pair pair{options};
  const std::uint64_t before = pair.a.post({.opcode = WorkOpcode::write, .length = 5000});
  ASSERT_TRUE(pair.network.run_for(10us));
  pair.a.modify({.state = QpState::sqd, .sq_drained_notify = true});
  EXPECT_TRUE(must(pair.a.device().query_qp(pair.a.qpn())).sq_draining);
  EXPECT_EQ(pair.a_host.count_events(EventType::sq_drained), 0U);
  const std::uint64_t held = pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  // The responder continues.
  const std::uint64_t other = pair.b.post({.opcode = WorkOpcode::read, .length = 3000});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a_host.count_events(EventType::sq_drained), 1U);
  EXPECT_FALSE(must(pair.a.device().query_qp(pair.a.qpn())).sq_draining);
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(before)));
  EXPECT_THAT(pair.b.sent(), ElementsAre(Succeeded(other)));
  pair.a.modify({.state = QpState::rts});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(before), Succeeded(held)));
  EXPECT_EQ(pair.a_host.count_events(EventType::sq_drained), 1U);
}

TEST_P(QueueScenario, SqdWithoutNotifyMakesNoEvent) {
  Pair pair{options()};
  pair.a.modify({.state = QpState::sqd});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a_host.count_events(EventType::sq_drained), 0U);
  EXPECT_EQ(pair.a.state(), QpState::sqd);
}

TEST_P(QueueScenario, SqdOfAnIdleQueueIsDrainedAtOnce) {
  Pair pair{options()};
  pair.a.modify({.state = QpState::sqd, .sq_drained_notify = true});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a_host.count_events(EventType::sq_drained), 1U);
}

TEST_P(QueueScenario, APriorityRunsLowUntilEnoughReceivesAreThereAgain) {
  for (const bool with_srq : {false, true}) {
    Pair::Options options = QueueScenario::options();
    options.b_endpoint = Endpoint::Options{.with_srq = with_srq};
    options.b_host = options.a_host;
    options.b_host->adjust = [](transport::DeviceConfig& config) {
      config.receive_thresholds[0] = transport::ReceiveThresholds{.low = 2, .enough = 4};
    };
    Pair pair{options};
    const auto post = [&](std::uint64_t i) { pair.b.post_receive(64 * i, 64, i); };
    const auto send = [&] {
      pair.a.post({.length = 8});
      ASSERT_TRUE(pair.network.run_until_idle());
    };
    EXPECT_EQ(pair.b.device().low_priorities(), 0U) << "nothing was taken yet";
    for (std::uint64_t i = 1; i <= 4; ++i) post(i);
    send();
    EXPECT_EQ(pair.b.device().low_priorities(), 0U);
    send();
    EXPECT_EQ(pair.b.device().low_priorities(), 1U) << "two are left";
    post(5);
    EXPECT_EQ(pair.b.device().low_priorities(), 1U);
    post(6);
    EXPECT_EQ(pair.b.device().low_priorities(), 0U) << "four are there";
    send();
    send();
    EXPECT_EQ(pair.b.device().low_priorities(), 1U);
    pair.b.modify({.state = QpState::err});
    pair.b.modify({.state = QpState::reset});
    // Another QP may still need the receives of an SRQ.
    EXPECT_EQ(pair.b.device().low_priorities(), with_srq ? 1U : 0U);
  }
}

TEST_P(QueueScenario, SrqTellsOnceThatFewerThanItsLimitAreLeft) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = Endpoint::Options{.with_srq = true};
  Pair pair{options};
  for (std::uint64_t i = 1; i <= 5; ++i) pair.b.post_receive(64 * i, 64, i);
  must(pair.b.device().arm_srq_limit(*pair.b.srq(), 3));
  const auto send = [&] {
    pair.a.post({.length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
  };
  send();
  send();
  EXPECT_EQ(pair.b_host.count_events(EventType::srq_limit), 0U);
  send();
  ASSERT_EQ(pair.b_host.count_events(EventType::srq_limit), 1U);
  send();
  EXPECT_EQ(pair.b_host.count_events(EventType::srq_limit), 1U);
  EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(1), Succeeded(2), Succeeded(3), Succeeded(4)));
}

TEST_P(QueueScenario, AQpInErrTellsThatItTakesNothingMoreFromItsSrq) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = Endpoint::Options{.with_srq = true};
  Pair pair{options};
  pair.b.post_receive(0, 64);
  EXPECT_EQ(pair.b_host.count_events(EventType::last_wqe_reached), 0U);
  pair.b.fail();
  EXPECT_EQ(pair.b_host.count_events(EventType::last_wqe_reached), 1U);
  EXPECT_THAT(pair.b.received(), IsEmpty()) << "what is in an SRQ belongs to no QP";
}

TEST_P(QueueScenario, TwoQpsShareAnSrq) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = Endpoint::Options{.with_srq = true};
  Pair pair{options};
  Endpoint other_a{pair.a_host};
  Endpoint other_b{pair.b_host, {.srq = pair.b.srq(), .pd = pair.b.pd()}};
  connect(other_a, other_b);
  for (std::uint64_t i = 1; i <= 4; ++i) pair.b.post_receive(64 * i, 64, i);
  for (int i = 0; i < 2; ++i) {
    pair.a.post({.length = 8});
    other_a.post({.length = 8});
  }
  ASSERT_TRUE(pair.network.run_until_idle());
  ASSERT_EQ(pair.b.received().size(), 2U);
  ASSERT_EQ(other_b.received().size(), 2U);
  EXPECT_EQ(pair.b.received().front().qpn, pair.b.qpn());
  EXPECT_EQ(other_b.received().front().qpn, other_b.qpn());
}

TEST_P(QueueScenario, AFullCqOverflowsAndItsQpsFail) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = options.a_endpoint;
  options.a_endpoint.cq_capacity = 3;
  Pair pair{options};
  for (int i = 0; i < 4; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a_host.count_events(EventType::cq_overflow), 1U);
  EXPECT_EQ(pair.a.state(), QpState::err);
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(1), Succeeded(2), Succeeded(3)));
}

TEST_P(QueueScenario, AFullReceiveCqOverflowsToo) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = Endpoint::Options{.cq_capacity = 2};
  options.connection.retry_count = 2;
  Pair pair{options};
  for (int i = 0; i < 3; ++i) pair.b.post_receive(0, 64);
  for (int i = 0; i < 3; ++i) pair.a.post({.length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_overflow), 1U);
  EXPECT_EQ(pair.b.state(), QpState::err);
  EXPECT_EQ(pair.b.received().size(), 2U);
}

TEST_P(QueueScenario, ACqThatGrowsKeepsItsCompletionsAndTakesMore) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = options.a_endpoint;
  options.a_endpoint.cq_capacity = 3;
  Pair pair{options};
  transport::Device& device = pair.a.device();
  const auto write = [&](int count) {
    for (int i = 0; i < count; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
  };
  write(2);
  const transport::VerbResult<void> too_small = device.resize_cq(pair.a.send_cq(), 1);
  ASSERT_FALSE(too_small);
  EXPECT_EQ(to_string(too_small.error()), "capacity: found 1, needs at least the completions in it (2)");
  must(device.resize_cq(pair.a.send_cq(), 9));
  write(7);
  must(device.resize_cq(pair.a.send_cq(), 9));
  EXPECT_EQ(pair.a_host.count_events(EventType::cq_overflow), 0U);
  EXPECT_EQ(pair.a.state(), QpState::rts);
  std::vector<transport::Completion> taken(10);
  ASSERT_EQ(device.poll_cq(pair.a.send_cq(), taken), 9U);
  for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(taken[i].wr_id, i + 1);
  must(device.resize_cq(pair.a.send_cq(), 1));
  write(2);
  EXPECT_EQ(pair.a_host.count_events(EventType::cq_overflow), 1U);
}

TEST_P(QueueScenario, AnSrqOfAnotherSizeKeepsItsReceives) {
  Pair::Options options = QueueScenario::options();
  options.b_endpoint = Endpoint::Options{.max_receive = 4, .with_srq = true};
  Pair pair{options};
  transport::Device& device = pair.b.device();
  const transport::Srq srq = *pair.b.srq();
  const auto send = [&] {
    pair.a.post({.length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
  };
  for (std::uint64_t i = 1; i <= 4; ++i) pair.b.post_receive(64 * i, 64, i);
  send();
  EXPECT_FALSE(device.resize_srq(srq, 2));
  must(device.arm_srq_limit(srq, 3));
  must(device.resize_srq(srq, 6));
  for (std::uint64_t i = 5; i <= 7; ++i) pair.b.post_receive(64 * i, 64, i);
  EXPECT_FALSE(device.post_srq_receive(srq, {.wr_id = 8}));
  for (int i = 0; i < 6; ++i) send();
  EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(1), Succeeded(2), Succeeded(3), Succeeded(4), Succeeded(5),
                                             Succeeded(6), Succeeded(7)));
}

TEST_P(QueueScenario, AnArmedCqTellsOnce) {
  Pair pair{options()};
  for (int i = 0; i < 4; ++i) pair.b.post_receive(0, 64);
  const auto send = [&](bool solicited) {
    pair.a.post({.length = 8, .solicited = solicited});
    ASSERT_TRUE(pair.network.run_until_idle());
  };
  must(pair.b.device().request_notify(pair.b.receive_cq(), false));
  send(false);
  send(false);
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_ready), 1U);
  must(pair.b.device().request_notify(pair.b.receive_cq(), true));
  send(false);
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_ready), 1U);
  send(true);
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_ready), 2U);
}

TEST_P(QueueScenario, ACompletionThatCameBeforeItsCqWasArmedIsToldOfOnce) {
  Pair pair{options()};
  for (int i = 0; i < 2; ++i) pair.b.post_receive(0, 64);
  const auto send = [&] {
    pair.a.post({.length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
  };
  send();
  must(pair.b.device().request_notify(pair.b.receive_cq(), false));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_ready), 1U);
  // Programs arm the CQ before they take what they were told of.
  must(pair.b.device().request_notify(pair.b.receive_cq(), false));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_ready), 1U);
  send();
  EXPECT_EQ(pair.b_host.count_events(EventType::cq_ready), 2U);
}

TEST_P(QueueScenario, AFullQueueRefusesOneMore) {
  Pair::Options options = QueueScenario::options();
  options.a_endpoint.max_send = 2;
  options.a_endpoint.max_receive = 2;
  Pair pair{options};
  for (int i = 0; i < 2; ++i) {
    pair.a.post({.opcode = WorkOpcode::write, .length = 8});
    pair.a.post_receive(0, 8);
  }
  const auto sent = pair.a.try_post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, transport::VerbErrorCode::no_resources) << to_string(sent.error());
  const auto received = pair.a.try_receive(0, 8);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, transport::VerbErrorCode::no_resources) << to_string(received.error());
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a.sent().size(), 2U);
  EXPECT_TRUE(pair.a.try_post({.opcode = WorkOpcode::write, .length = 8}));
}

TEST_P(QueueScenario, UnsignaledRequestsFreeTheirPlaces) {
  Pair::Options options = QueueScenario::options();
  options.a_endpoint.max_send = 4;
  Pair pair{options};
  for (int i = 0; i < 20; ++i) {
    pair.a.post({.opcode = WorkOpcode::write, .length = 8, .signaled = i == 19});
    ASSERT_TRUE(pair.network.run_until_idle());
  }
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(20)));
}

TEST_P(QueueScenario, FenceWaitsForEarlierReadsAndAtomics) {
  Pair::Options options = QueueScenario::options();
  options.link.delay = 10us;
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  // The WRITE sends the bytes that the READ brings.
  pair.a.post({.opcode = WorkOpcode::read, .length = 64, .local = 0, .remote = 0});
  pair.a.post({.opcode = WorkOpcode::write, .length = 64, .local = 0, .remote = 4096, .fence = true});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_TRUE(std::ranges::equal(pair.b.memory(0, 64), pair.b.memory(4096, 64)));
}

ROCE_UNDER_EACH_PROFILE(QueueScenario);

}  // namespace
}  // namespace roce::sim
