// SPDX-License-Identifier: BSD-2-Clause
// Input that no peer should send, and requests that no caller should make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_manager.h"
#include "two_managers.h"

namespace roce::cm::test {
namespace {

using enum MadAttribute;
using transport::VerbErrorCode;

class CmBadInput : public ::testing::Test {
 protected:
  /// Returns the answer to a REQ that `change` has changed.
  template <typename Change>
  std::string answer_to(Change change) {
    CmReq req = OneManager::req();
    change(req);
    one_.receive(cm_req, req);
    EXPECT_EQ(one_.manager.connections(), 0U);
    EXPECT_EQ(one_.take_events(), "");
    return one_.take_sent();
  }
  [[nodiscard]] std::uint64_t ignored(Ignored reason) const { return one_.manager.counters().of(reason); }

  OneManager one_;
};

TEST_F(CmBadInput, BytesThatAreNoMessageAreIgnored) {
  const std::array<std::byte, kMadSize> zeros{};
  one_.manager.receive(std::span{zeros}.first(kMadSize - 1), OneManager::peer(), one_.now);
  one_.manager.receive(zeros, OneManager::peer(), one_.now);
  one_.manager.receive({}, OneManager::peer(), one_.now);
  EXPECT_EQ(ignored(Ignored::not_cm), 3U);
  EXPECT_EQ(one_.take_sent(), "");
}

TEST_F(CmBadInput, RequestsAreRejectedForTheirReason) {
  EXPECT_EQ(answer_to([](CmReq& req) { req.service_id = ServiceId{PortSpace::tcp, 1}; }), "REJ (invalid service ID)");
  EXPECT_EQ(answer_to([](CmReq& req) { req.transport_service = CmTransportService::rd; }),
            "REJ (invalid transport service type)");
  EXPECT_EQ(answer_to([](CmReq& req) { req.path_mtu = PathMtu{7}; }), "REJ (invalid path MTU)");
  EXPECT_EQ(answer_to([](CmReq& req) { req.private_data[0] = std::byte{1}; }), "REJ (consumer reject)")
      << "an RDMA IP CM header of another version";
  EXPECT_EQ(one_.manager.counters().rejected, 4U);
  EXPECT_EQ(one_.last_sent.size(), 1U);
  const auto rej = read<CmRej>(one_.last_sent[0].mad.data() + kSize<Mad>);
  EXPECT_EQ(rej.local_comm_id, CommId{});
  EXPECT_EQ(rej.remote_comm_id, OneManager::kPeerId);
  EXPECT_EQ(read<Mad>(one_.last_sent[0].mad.data()).transaction_id, 0x5555U) << "that of the REQ";
}

TEST_F(CmBadInput, RequestsThatNoRejNamesAreIgnored) {
  EXPECT_EQ(answer_to([](CmReq& req) { req.local_comm_id = CommId{}; }), "");
  EXPECT_EQ(answer_to([](CmReq& req) { req.local_qpn = Qpn{1}; }), "");
  EXPECT_EQ(answer_to([](CmReq& req) { req.local_qpn = Qpn{0xFFFFFF}; }), "");
  EXPECT_EQ(ignored(Ignored::impossible), 3U);
}

TEST_F(CmBadInput, MessagesForNobodyAreIgnoredButADreq) {
  one_.receive(cm_rep, CmRep{});
  one_.receive(cm_rtu, CmRtu{});
  one_.receive(cm_mra, CmMra{});
  one_.receive(cm_rej, CmRej{});
  one_.receive(cm_drep, CmDrep{});
  one_.receive(cm_lap, CmLap{});
  EXPECT_EQ(one_.take_sent(), "");
  EXPECT_EQ(ignored(Ignored::unknown_connection), 6U);
  one_.receive(cm_dreq, CmDreq{});
  EXPECT_EQ(one_.take_sent(), "DREP") << "or whoever asks would ask for a long time";
}

TEST_F(CmBadInput, ADreqForAnotherQpIsIgnored) {
  one_.enter_as_passive(State::established);
  CmDreq dreq;
  dreq.local_comm_id = OneManager::kPeerId;
  dreq.remote_comm_id = one_.connection;
  dreq.remote_qpn = Qpn{0x99};
  one_.receive(cm_dreq, dreq);
  EXPECT_EQ(ignored(Ignored::wrong_qpn), 1U);
  EXPECT_EQ(one_.state(), State::established);
}

TEST_F(CmBadInput, ARejFromSomebodyElseEndsNothing) {
  one_.enter_as_active(State::established);
  CmRej rej;
  rej.local_comm_id = CommId{0x123};
  rej.remote_comm_id = one_.connection;
  rej.reason = CmRejReason::consumer_defined;
  one_.receive(cm_rej, rej);
  EXPECT_EQ(one_.state(), State::established);
}

TEST_F(CmBadInput, AReplyWithAQpOfAnotherConnectionIsStale) {
  one_.enter_as_active(State::established);
  ConnectRequest request;
  request.peer = {OneManager::peer().local, OneManager::peer().remote};
  request.service = OneManager::kService;
  request.qpn = Qpn{0x13};
  const CommId second = one_.manager.connect(request, one_.now).value();
  (void)one_.take_sent();
  CmRep rep;
  rep.local_comm_id = CommId{0x78};
  rep.remote_comm_id = second;
  rep.local_ca_guid = OneManager::kPeerGuid;
  rep.local_qpn = OneManager::kPeerQpn;
  one_.receive(cm_rep, rep);
  EXPECT_EQ(one_.take_sent(), "REJ (stale connection), DREQ");
  EXPECT_EQ(one_.take_events(), "");
}

TEST(CmLimits, MoreConnectionsThanAllowedAreNotAnswered) {
  OneManager one{{.max_connections = 2}};
  one.receive_req(CommId{1}, Qpn{21});
  one.receive_req(CommId{2}, Qpn{22});
  one.receive_req(CommId{3}, Qpn{23});
  EXPECT_EQ(one.manager.connections(), 2U);
  EXPECT_EQ(one.manager.counters().of(Ignored::no_room), 1U);
  EXPECT_EQ(one.take_sent(), "");
  ConnectRequest request;
  request.qpn = Qpn{0x11};
  EXPECT_EQ(one.manager.connect(request, one.now).error().code, VerbErrorCode::no_resources);
}

TEST(CmListeners, AreFoundByAddress) {
  OneManager one;
  ASSERT_TRUE(one.manager.stop_listening(OneManager::kService));
  ASSERT_TRUE(one.manager.listen(OneManager::kService, Gid::from_ipv4(Ipv4Address{{192, 0, 2, 9}})));
  one.receive_req();
  EXPECT_EQ(one.take_sent(), "REJ (consumer reject)") << "somebody listens, but not at this address";
  ASSERT_TRUE(one.manager.listen(OneManager::kService, Gid::from_ipv4(Ipv4Address{{192, 0, 2, 2}})));
  one.receive_req();
  EXPECT_EQ(one.take_events(), "request");
  EXPECT_EQ(one.manager.listen(OneManager::kService, Gid::from_ipv4(Ipv4Address{{192, 0, 2, 2}})).error().code,
            VerbErrorCode::in_use);
}

TEST(CmCallers, AreToldWhatIsWrong) {
  TwoManagers pair;
  ConnectRequest request = pair.request();
  const auto refused = [&](auto change) {
    ConnectRequest changed = request;
    change(changed);
    const auto made = pair.a.connect(changed, pair.now);
    return made ? "nothing" : std::string{made.error().subject};
  };
  const std::vector<std::byte> large(93);
  EXPECT_EQ(refused([](ConnectRequest& r) { r.qpn = Qpn{1}; }), "qpn");
  EXPECT_EQ(refused([](ConnectRequest& r) { r.transport = CmTransportService::rd; }), "transport");
  EXPECT_EQ(refused([](ConnectRequest& r) { r.path_mtu = PathMtu{0}; }), "path_mtu");
  EXPECT_EQ(refused([](ConnectRequest& r) { r.retry_count = 8; }), "retry_count");
  EXPECT_EQ(refused([](ConnectRequest& r) { r.rnr_retry_count = 8; }), "rnr_retry_count");
  EXPECT_EQ(refused([](ConnectRequest& r) { r.flow_label = 0x100000; }), "flow_label");
  EXPECT_EQ(refused([&](ConnectRequest& r) { r.private_data = large; }), "private_data");
  EXPECT_EQ(pair.a.connections(), 0U);
  EXPECT_FALSE(pair.a.poll_message());

  pair.accepts = false;
  pair.connect();
  pair.run(pair.now + std::chrono::seconds{1});
  Reply reply = pair.reply;
  reply.responder_resources = 2;
  EXPECT_EQ(pair.b.accept(pair.of_b, reply, pair.now).error().subject, "responder_resources");
  reply = pair.reply;
  reply.initiator_depth = 2;
  EXPECT_EQ(pair.b.accept(pair.of_b, reply, pair.now).error().subject, "initiator_depth");
  EXPECT_EQ(pair.b.confirm(pair.of_b, {}, pair.now).error().code, VerbErrorCode::wrong_state);
  EXPECT_EQ(pair.b.disconnect(pair.of_b, pair.now).error().code, VerbErrorCode::wrong_state);
  EXPECT_EQ(pair.b.accept(CommId{1}, pair.reply, pair.now).error().code, VerbErrorCode::unknown_handle);
  EXPECT_EQ(pair.b.delay(pair.of_b, 32, pair.now).error().subject, "service_timeout");
  EXPECT_EQ(pair.b.find(pair.of_b)->state, State::req_received) << "nothing of it changed anything";
}

TEST(CmConfig, HasToBePossible) {
  const auto refused = [](const Config& config) {
    const auto made = ConnectionManager::make(config, [] { return std::uint64_t{1}; });
    return made ? "nothing" : std::string{made.error().subject};
  };
  EXPECT_EQ(refused({}), "ca_guid");
  EXPECT_EQ(refused({.ca_guid = 1, .response_timeout = 32}), "response_timeout");
  EXPECT_EQ(refused({.ca_guid = 1, .max_retries = 16}), "max_retries");
  EXPECT_EQ(refused({.ca_guid = 1, .max_path_mtu = PathMtu{6}}), "max_path_mtu");
  EXPECT_EQ(refused({.ca_guid = 1, .max_connections = 0}), "max_connections");
  EXPECT_EQ(refused({.ca_guid = 1}), "nothing");
}

}  // namespace
}  // namespace roce::cm::test
