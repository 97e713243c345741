// SPDX-License-Identifier: BSD-2-Clause
// Rights to deliver: QP1, partition and queue keys, protection domains of an SRQ, refused WRITEs with immediate; and
// the effect of a request's flags on its packets.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

#include "forger.h"
#include "roce/wire/deth.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using transport::CompletionStatus;
using transport::QpType;
using transport::WorkOpcode;

constexpr QKey kManagementQKey{0x80010000};

class DeliveryScenario : public ScenarioTest {
 protected:
  static Pair::Options options(QpType type = QpType::rc) {
    Pair::Options options = Pair::with(profile());
    options.a_endpoint.type = type;
    return options;
  }
  static Work datagram(Pair& pair, QKey q_key = kQKey) {
    return {.length = 8, .datagram = {.ah = address_of(pair.a, pair.b_host), .qpn = pair.b.qpn(), .q_key = q_key}};
  }
  static std::vector<Packet> packets_of(const SimNetwork& network, NodeId from) {
    std::vector<Packet> packets;
    for (const TraceFrame& frame : network.trace()) {
      if (frame.from == from) packets.push_back(parse_frame(frame.bytes, LinkType::ethernet));
    }
    return packets;
  }
};

TEST_P(DeliveryScenario, ManagementDatagramsGoFromQp1ToQp1) {
  // Bit 31 selects the QP's own Q_Key, which is the same.
  for (const QKey q_key : {kManagementQKey, QKey{1U << 31U}}) {
    Pair pair{options(QpType::gsi)};
    EXPECT_EQ(pair.a.qpn(), Qpn{1});
    EXPECT_FALSE(pair.a.device().create_qp(
        {.type = QpType::gsi, .pd = pair.a.pd(), .send_cq = pair.a.send_cq(), .receive_cq = pair.a.receive_cq()}))
        << "there is one QP1";
    pair.network.keep_trace(Tap::sent);
    pair.b.post_receive(0, 48, 9);
    const std::uint64_t id = pair.a.post(datagram(pair, q_key));
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
    ASSERT_THAT(pair.b.received(), ElementsAre(Succeeded(9)));
    EXPECT_EQ(pair.b.received().front().source_qp, Qpn{1});
    EXPECT_EQ(pair.b.received().front().byte_length, 48U);
    ASSERT_THAT(pair.network.trace(), SizeIs(1));
    const Packet packet = packets_of(pair.network, pair.a_host.node()).front();
    EXPECT_EQ(packet.bth().dest_qp, Qpn{1});
    EXPECT_EQ(packet.bth().ack_req, profile().gsi_asks_for_ack);
    EXPECT_EQ(packet.get<Deth>(), (Deth{kManagementQKey, 0, Qpn{1}}));
  }
}

TEST_P(DeliveryScenario, Qp1DropsAnotherQKey) {
  Pair pair{options(QpType::gsi)};
  pair.b.post_receive(0, 48);
  pair.a.post(datagram(pair, kQKey));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.received(), IsEmpty());
  EXPECT_EQ(pair.b.counters().q_key_violations, 1U);
}

TEST_P(DeliveryScenario, AHostThatAnswersNoArpDoesNotKeepOthersFromQp1) {
  Pair pair{options(QpType::gsi)};
  transport::AddressVector nowhere{.sgid_index = Host::gid_index({}), .dgid = pair.b_host.gid()};
  nowhere.dgid.octets.back() ^= 0x55;
  Work lost = datagram(pair, kManagementQKey);
  lost.datagram.ah = must(pair.a.device().create_ah(pair.a.pd(), nowhere));
  for (const std::uint64_t offset : {0U, 48U, 96U}) pair.b.post_receive(offset, 48, 9);
  pair.a.post(lost);
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), IsEmpty()) << "it waits while nothing is behind it";
  for (int i = 0; i < 3; ++i) {
    pair.a.post(lost);
    pair.a.post(datagram(pair, kManagementQKey));
    ASSERT_TRUE(pair.network.run_until_idle());
  }
  EXPECT_THAT(pair.b.received(), SizeIs(3));
  EXPECT_EQ(pair.a.sent().size(), 7U) << "those that nobody could get are complete too";
}

/// The P_Keys of two ports, and whether packets pass: they need the same partition and a full member on one side.
struct Partitions {
  std::uint16_t a;
  std::uint16_t b;
  bool pass;
};
constexpr std::array kPartitions{Partitions{0xFFFF, 0xFFFF, true},  Partitions{0x7FFF, 0xFFFF, true},
                                 Partitions{0xFFFF, 0x7FFF, true},  Partitions{0x7FFF, 0x7FFF, false},
                                 Partitions{0x8001, 0xFFFF, false}, Partitions{0x8001, 0x8001, true}};

TEST_P(DeliveryScenario, PacketsOfAnotherPartitionAreDroppedAndCounted) {
  for (const QpType type : {QpType::rc, QpType::uc, QpType::ud}) {
    for (const Partitions& keys : kPartitions) {
      SCOPED_TRACE(testing::Message() << to_string(type) << ' ' << keys.a << " to " << keys.b);
      Pair::Options options = DeliveryScenario::options(type);
      options.b_host = options.a_host;
      options.a_host.adjust = [&](transport::DeviceConfig& config) { config.p_keys = {PKey{keys.a}}; };
      options.b_host->adjust = [&](transport::DeviceConfig& config) { config.p_keys = {PKey{keys.b}}; };
      options.connection.retry_count = 1;
      Pair pair{options};
      pair.network.keep_trace(Tap::sent);
      pair.b.post_receive(0, 64);
      pair.a.post(type == QpType::ud ? datagram(pair) : Work{.length = 8});
      ASSERT_TRUE(pair.network.run_until_idle());
      const std::vector<Packet> sent = packets_of(pair.network, pair.a_host.node());
      ASSERT_FALSE(sent.empty());
      EXPECT_EQ(sent.front().bth().p_key, PKey{keys.a});
      EXPECT_THAT(pair.b.received(), SizeIs(keys.pass ? 1 : 0));
      EXPECT_EQ(pair.b.counters().p_key_violations, keys.pass ? 0U : sent.size());
      EXPECT_EQ(pair.b.device().counters().p_key_violations, pair.b.counters().p_key_violations);
      EXPECT_THAT(packets_of(pair.network, pair.b_host.node()), SizeIs(keys.pass && type == QpType::rc ? 1 : 0))
          << "dropped without a NAK";
    }
  }
}

TEST_P(DeliveryScenario, AWriteWithImmediateThatIsRefusedEndsItsReceive) {
  Pair pair{options()};
  pair.b.post_receive(0, 64, 9);
  pair.b.post_receive(0, 64, 10);
  const std::uint64_t id =
      pair.a.post({.opcode = WorkOpcode::write_with_immediate, .length = 8, .r_key = RKey{0xDEAD00}});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
  EXPECT_THAT(pair.b.received(),
              ElementsAre(Ended(9, CompletionStatus::local_access_error), Ended(10, CompletionStatus::flushed)));
  EXPECT_EQ(pair.b.state(), transport::QpState::err);
  EXPECT_EQ(pair.b.counters().responder_access_errors, 1U);
}

TEST_P(DeliveryScenario, ReceivesOfAnSrqNameMemoryOfItsProtectionDomain) {
  for (const QpType type : {QpType::rc, QpType::uc, QpType::ud}) {
    for (const bool of_srq : {true, false}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << (of_srq ? ", memory of the SRQ" : ", memory of the QP"));
      SimNetwork network;
      Host::Options host_options;
      host_options.profile = profile();
      Host a_host{network, host_options};
      Host b_host{network, host_options};
      network.connect(a_host.node(), b_host.node());
      Endpoint a{a_host, {.type = type}};
      Endpoint owner{b_host, {.type = type, .with_srq = true}};
      Endpoint b{b_host, {.type = type, .srq = owner.srq()}};
      connect(a, b);
      (of_srq ? owner : b).post_receive(0, 64);
      const std::vector<std::byte> before{b.memory().begin(), b.memory().end()};
      Work work{.length = 8};
      if (type == QpType::ud) work.datagram = {.ah = address_of(a, b_host), .qpn = b.qpn(), .q_key = kQKey};
      std::ranges::fill(a.memory(0, 8), std::byte{0x5A});
      a.post(work);
      ASSERT_TRUE(network.run_until_idle());
      if (of_srq) {
        EXPECT_THAT(b.received(), ElementsAre(Succeeded(1001)));
        const std::size_t offset = type == QpType::ud ? 40 : 0;
        EXPECT_TRUE(std::ranges::equal(owner.memory(offset, 8), a.memory(0, 8)));
      } else {
        ASSERT_THAT(b.received(), SizeIs(1));
        EXPECT_NE(b.received().front().status, CompletionStatus::success);
        EXPECT_TRUE(std::ranges::equal(b.memory(), before));
      }
    }
  }
}

/// Records the calls that it gets.
class Listener : public congestion::CongestionControl {
 public:
  struct Heard {
    std::uint64_t line = 0;
    int cnps = 0;
    std::uint64_t bytes = 0;
  };
  explicit Listener(Heard& heard) : heard_(heard) {}
  void start(const congestion::Path& path, Time /*now*/) override { heard_.line = path.line_rate_bps; }
  void on_cnp(Time /*now*/) override { ++heard_.cnps; }
  void on_sent(const congestion::Sent& sent) override { heard_.bytes += sent.bytes; }
  [[nodiscard]] congestion::Output output(Time /*now*/) override { return {.hears_sent = true}; }
  [[nodiscard]] congestion::Reading reading(Time /*now*/) override { return {}; }

 private:
  Heard& heard_;
};

TEST_P(DeliveryScenario, EachQpHasItsCongestionControlFromRtsOn) {
  std::vector<std::unique_ptr<Listener::Heard>> heard;
  Pair::Options options = DeliveryScenario::options();
  options.a_host.profile.mark_ect = true;
  options.b_host = options.a_host;
  options.b_host->profile.send_cnps = true;
  options.a_host.congestion = [&](Qpn /*qp*/) {
    heard.push_back(std::make_unique<Listener::Heard>());
    return std::make_unique<Listener>(*heard.back());
  };
  options.link.impair = "mark_ce:dir=a_to_b";
  Pair pair{options};
  Endpoint other_a{pair.a_host};
  Endpoint other_b{pair.b_host};
  EXPECT_THAT(heard, SizeIs(1)) << "not before RTS";
  connect(other_a, other_b);
  ASSERT_THAT(heard, SizeIs(2));
  EXPECT_EQ(heard[0]->line, 94'032'549'729U) << "100 Gbit/s, of which 1040 of 1106 bytes count";
  other_a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(heard[0]->cnps, 0) << "of another QP";
  EXPECT_EQ(heard[1]->cnps, 1);
  EXPECT_EQ(heard[1]->bytes, other_a.counters().sent_bytes);
}

TEST_P(DeliveryScenario, InlineDataIsTakenWhenPosted) {
  Pair pair{options()};
  std::vector<std::byte> expected;
  for (std::uint64_t i = 0; i < 8; ++i) {
    pair.a.post({.opcode = WorkOpcode::write, .length = 64, .local = 0, .remote = 64 * i, .is_inline = true});
    expected.insert(expected.end(), pair.a.memory().begin(), pair.a.memory().begin() + 64);
    std::ranges::fill(pair.a.memory(0, 64), static_cast<std::byte>(i));
  }
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), SizeIs(8));
  EXPECT_TRUE(std::ranges::equal(pair.b.memory(0, 8 * 64), expected));
}

TEST_P(DeliveryScenario, TheLastPacketOfWhatTakesAReceiveIsSolicited) {
  for (const WorkOpcode opcode :
       {WorkOpcode::send, WorkOpcode::send_with_immediate, WorkOpcode::write_with_immediate, WorkOpcode::write}) {
    for (const bool solicited : {false, true}) {
      SCOPED_TRACE(testing::Message() << to_string(opcode) << (solicited ? ", solicited" : ""));
      Pair pair{options()};
      pair.b.post_receive(0, 4096);
      pair.network.keep_trace(Tap::sent);
      pair.a.post({.opcode = opcode, .length = 3000, .solicited = solicited});
      ASSERT_TRUE(pair.network.run_until_idle());
      const std::vector<Packet> packets = packets_of(pair.network, pair.a_host.node());
      ASSERT_THAT(packets, SizeIs(3));
      EXPECT_FALSE(packets[0].bth().solicited);
      EXPECT_FALSE(packets[1].bth().solicited);
      EXPECT_EQ(packets[2].bth().solicited, solicited && opcode != WorkOpcode::write);
    }
  }
}

TEST_P(DeliveryScenario, AFailureCompletesAlsoUnsignaledAndWakesWhoWaitsForSolicited) {
  Pair pair{options()};
  must(pair.a.device().request_notify(pair.a.send_cq(), true));
  const std::uint64_t id =
      pair.a.post({.opcode = WorkOpcode::write, .length = 8, .r_key = RKey{0xDEAD00}, .signaled = false});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
  EXPECT_EQ(pair.a_host.count_events(transport::EventType::cq_ready), 1U);
}

TEST_P(DeliveryScenario, AFencedRequestLeavesAfterTheLastReadResponse) {
  Pair pair{options()};
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = WorkOpcode::read, .length = 3000});
  pair.a.post({.opcode = WorkOpcode::fetch_add, .length = 8, .local = 4096, .remote = 4096});
  pair.a.post({.opcode = WorkOpcode::write, .length = 8, .fence = true});
  ASSERT_TRUE(pair.network.run_until_idle());
  const std::vector<TraceFrame>& trace = pair.network.trace();
  const auto position = [&](Opcode opcode) {
    return std::ranges::find_if(trace, [&](const TraceFrame& f) { return testing::Value(f, IsOpcode(opcode)); });
  };
  EXPECT_LT(position(Opcode::rc_fetch_add), position(Opcode::rc_read_response_first)) << "not fenced";
  ASSERT_NE(position(Opcode::rc_write_only), trace.end());
  EXPECT_LT(position(Opcode::rc_read_response_last), position(Opcode::rc_write_only));
  EXPECT_LT(position(Opcode::rc_atomic_acknowledge), position(Opcode::rc_write_only));
}

ROCE_UNDER_EACH_PROFILE(DeliveryScenario);

}  // namespace
}  // namespace roce::sim
