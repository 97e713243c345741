// SPDX-License-Identifier: BSD-2-Clause
// Bad input to the verbs: an error that names what was wrong, and nothing is changed.
#include <gmock/gmock.h>

#include "sim/endpoint.h"
#include "sim/matchers.h"

namespace roce::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using transport::QpChange;
using transport::QpState;
using transport::QpType;
using transport::VerbErrorCode;
using transport::VerbResult;
using transport::WorkOpcode;

template <typename T>
void expect_error(const VerbResult<T>& result, VerbErrorCode code, const std::string& subject) {
  ASSERT_FALSE(result.has_value()) << subject;
  EXPECT_EQ(result.error().code, code) << to_string(result.error());
  EXPECT_THAT(to_string(result.error()), HasSubstr(subject));
}

struct Refusals : testing::Test {
  [[nodiscard]] VerbResult<void> modify(const QpChange& change) {
    return pair.a.device().modify_qp(pair.a.qpn(), change, Time{});
  }
  static Pair::Options unconnected() {
    Pair::Options options;
    options.is_connected = false;
    return options;
  }
  Pair pair{unconnected()};
  Connection connection;
};

TEST_F(Refusals, AnAttributeOutOfRangeChangesNothing) {
  pair.a.modify(to_init(connection, QpType::rc));
  const QpChange good = to_rtr(connection, pair.b, Psn{5}, QpType::rc);
  const auto expect_refused = [&](const QpChange& change, const std::string& subject) {
    const VerbResult<void> result = modify(change);
    ASSERT_FALSE(result.has_value()) << subject;
    EXPECT_THAT(to_string(result.error()), HasSubstr(subject));
    EXPECT_EQ(pair.a.state(), QpState::init);
    EXPECT_EQ(must(pair.a.device().query_qp(pair.a.qpn())).rq_psn, Psn{0});
  };
  QpChange change = good;
  change.path_mtu = 1000;
  expect_refused(change, "path_mtu");
  change = good;
  change.min_rnr_timer = 32;
  expect_refused(change, "min_rnr_timer");
  change = good;
  change.address->sgid_index = 77;
  expect_refused(change, "sgid_index");
  change = good;
  change.address->service_level = 8;
  expect_refused(change, "service_level");
  change = good;
  change.dest_qp.reset();
  expect_refused(change, "dest_qp");
  change = good;
  change.q_key = QKey{1};
  expect_refused(change, "q_key");
  change = good;
  change.current_state = QpState::rts;
  expect_refused(change, "current_state");
  EXPECT_TRUE(modify(good));
}

TEST_F(Refusals, ATransitionThatDoesNotExist) {
  expect_error(modify({.state = QpState::rts, .sq_psn = Psn{1}}), VerbErrorCode::wrong_state, "state");
  EXPECT_EQ(pair.a.state(), QpState::reset);
}

TEST_F(Refusals, RetryCountsAndTimeoutsBeyondTheirRange) {
  pair.a.modify(to_init(connection, QpType::rc));
  pair.a.modify(to_rtr(connection, pair.b, Psn{5}, QpType::rc));
  for (const auto& [edit, subject] : std::vector<std::pair<std::function<void(QpChange&)>, std::string>>{
           {[](QpChange& change) { change.retry_count = 8; }, "retry_count"},
           {[](QpChange& change) { change.rnr_retry = 8; }, "rnr_retry"},
           {[](QpChange& change) { change.timeout = 32; }, "timeout"},
           {[](QpChange& change) { change.max_rd_atomic = 200; }, "max_rd_atomic"}}) {
    QpChange change = to_rts(connection, Psn{9}, QpType::rc);
    edit(change);
    expect_error(modify(change), VerbErrorCode::invalid_argument, subject);
    EXPECT_EQ(pair.a.state(), QpState::rtr);
  }
}

TEST_F(Refusals, PostsInTheWrongState) {
  expect_error(pair.a.try_post({.length = 4}), VerbErrorCode::wrong_state, "state");
  expect_error(pair.a.try_receive(0, 4), VerbErrorCode::wrong_state, "state");
  pair.a.modify(to_init(connection, QpType::rc));
  EXPECT_TRUE(pair.a.try_receive(0, 4));
  expect_error(pair.a.try_post({.length = 4}), VerbErrorCode::wrong_state, "state");
}

TEST_F(Refusals, OperationsThatTheTypeDoesNotHave) {
  Endpoint uc_a{pair.a_host, {.type = QpType::uc}};
  Endpoint uc_b{pair.b_host, {.type = QpType::uc}};
  connect(uc_a, uc_b);
  for (const WorkOpcode opcode : {WorkOpcode::read, WorkOpcode::fetch_add, WorkOpcode::send_with_invalidate}) {
    expect_error(uc_a.try_post({.opcode = opcode, .length = 8}), VerbErrorCode::wrong_type, "opcode");
  }
  EXPECT_EQ(must(uc_a.device().query_qp(uc_a.qpn())).sends_outstanding, 0U);
}

TEST_F(Refusals, RequestsThatNoPacketCanCarry) {
  connect(pair.a, pair.b, {.mtu = 256});
  // 2^23 packets of 256 bytes are 2^31 bytes.
  EXPECT_FALSE(pair.a.try_post({.opcode = WorkOpcode::read, .length = 0x80000000U}));
  EXPECT_FALSE(pair.a.try_post({.opcode = WorkOpcode::write, .length = 0x80000001U}));
  EXPECT_FALSE(pair.a.try_post({.opcode = WorkOpcode::fetch_add, .length = 4}));
  EXPECT_FALSE(pair.a.try_post({.opcode = WorkOpcode::fetch_add, .length = 8, .remote = 3}));
  EXPECT_FALSE(pair.a.try_post({.length = 65, .is_inline = true}));
  const std::array<transport::Sge, 5> sges{};
  const VerbResult<void> many = pair.a.device().post_send(pair.a.qpn(), {.sges = sges});
  expect_error(many, VerbErrorCode::invalid_argument, "sges");
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), IsEmpty());
}

TEST_F(Refusals, ObjectsOfAnotherDevice) {
  transport::Device& device = pair.a.device();
  const auto make = [&](transport::Pd pd, transport::Cq send, transport::Cq receive) {
    return device.create_qp({.pd = pd, .send_cq = send, .receive_cq = receive});
  };
  expect_error(make(pair.b.pd(), pair.a.send_cq(), pair.a.send_cq()), VerbErrorCode::unknown_handle, "pd");
  expect_error(make(pair.a.pd(), pair.b.send_cq(), pair.a.send_cq()), VerbErrorCode::unknown_handle, "cq");
  expect_error(make(pair.a.pd(), pair.a.send_cq(), pair.b.send_cq()), VerbErrorCode::unknown_handle, "cq");
  expect_error(device.query_mr(pair.b.mr()), VerbErrorCode::unknown_handle, "mr");
  expect_error(device.query_qp(Qpn{0xABCDEF}), VerbErrorCode::unknown_handle, "qp");
}

TEST_F(Refusals, ObjectsThatAreInUseOrGone) {
  transport::Device& device = pair.a.device();
  expect_error(device.destroy_pd(pair.a.pd()), VerbErrorCode::in_use, "pd");
  expect_error(device.destroy_cq(pair.a.send_cq()), VerbErrorCode::in_use, "cq");
  const transport::Cq cq = must(device.create_cq(4));
  must(device.destroy_cq(cq));
  expect_error(device.request_notify(cq, false), VerbErrorCode::unknown_handle, "cq");
  const transport::Cq next = must(device.create_cq(4));
  EXPECT_NE(cq, next) << "a stale handle would name its successor";
}

TEST_F(Refusals, ADeviceThatCannotBe) {
  const auto make = [](const std::function<void(transport::DeviceConfig&)>& edit) {
    transport::DeviceConfig config;
    config.mac = {{2, 0, 0, 0, 0, 9}};
    config.gids = {{.gid = Gid::from_ipv4({{10, 0, 0, 9}})}};
    edit(config);
    return transport::Device::make(config, Random{1});
  };
  EXPECT_TRUE(make([](auto&) {}).has_value());
  expect_error(make([](auto& config) { config.port_mtu = 1500; }), VerbErrorCode::invalid_argument, "port_mtu");
  expect_error(make([](auto& config) { config.gids[0].vlan_id = 4095; }), VerbErrorCode::invalid_argument, "vlan_id");
  expect_error(make([](auto& config) { config.first_qpn = 1; }), VerbErrorCode::invalid_argument, "first_qpn");
  expect_error(make([](auto& config) { config.cnp.dscp = 64; }), VerbErrorCode::invalid_argument, "cnp.dscp");
}

}  // namespace
}  // namespace roce::sim
