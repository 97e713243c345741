// SPDX-License-Identifier: BSD-2-Clause
// A QP that misbehaves on purpose, seen from outside.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using transport::TxVerdict;
using transport::WorkOpcode;

/// Does with each packet what the test asks for.
class Hook : public transport::MisbehaviourHook {
 public:
  std::function<TxVerdict(std::span<std::byte>, int)> transmit = [](std::span<std::byte>, int) { return TxVerdict{}; };
  std::optional<AethSyndrome> nak{};

  TxVerdict on_transmit(std::span<std::byte> packet, Time /*now*/) override { return transmit(packet, count_++); }
  std::optional<AethSyndrome> on_request(const Packet& /*packet*/, Time /*now*/) override {
    return std::exchange(nak, std::nullopt);
  }

 private:
  int count_ = 0;
};

class Misbehaviour : public ScenarioTest {
 protected:
  Misbehaviour() : pair_(Pair::with(profile())) {
    pair_.network.keep_trace(Tap::sent);
    must(pair_.a.device().set_hook(pair_.a.qpn(), &hook_));
    for (int i = 0; i < 4; ++i) pair_.b.post_receive(0, 64);
  }

  /// Sends three SENDs. Returns the PSNs that A sent, counted from the first.
  std::vector<std::int32_t> send_three() {
    for (int i = 0; i < 3; ++i) pair_.a.post({.length = 32});
    EXPECT_TRUE(pair_.network.run_until_idle());
    EXPECT_THAT(pair_.a.sent(), ElementsAre(Succeeded(1), Succeeded(2), Succeeded(3)));
    EXPECT_EQ(pair_.b.received().size(), 3U);
    std::vector<std::int32_t> psns;
    for (const TraceFrame& frame : pair_.network.trace()) {
      if (frame.from != pair_.a_host.node()) continue;
      psns.push_back(parse_frame(frame.bytes, LinkType::ethernet).bth().psn.distance_from(Psn{0x100}));
    }
    return psns;
  }

  Hook hook_;
  Pair pair_;
};

TEST_P(Misbehaviour, DropsAPacket) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    return TxVerdict{.fate = n == 0 ? TxVerdict::Fate::drop : TxVerdict::Fate::send};
  };
  EXPECT_THAT(send_three(), ElementsAre(1, 2, 0, 1, 2));
}

TEST_P(Misbehaviour, SendsAPacketTwice) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    return TxVerdict{.fate = n == 1 ? TxVerdict::Fate::duplicate : TxVerdict::Fate::send};
  };
  std::vector<std::int32_t> psns = send_three();
  std::ranges::sort(psns);
  EXPECT_THAT(psns, ElementsAre(0, 1, 1, 2));
}

TEST_P(Misbehaviour, SendsAPacketLater) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    if (n != 2) return TxVerdict{};
    return TxVerdict{.fate = TxVerdict::Fate::delay, .delay = 5ms};
  };
  EXPECT_THAT(send_three(), ElementsAre(0, 1, 2));
  EXPECT_GE(pair_.network.now().time_since_epoch(), 5ms);
}

TEST_P(Misbehaviour, SendsAPacketBehindTheNext) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    if (n != 0) return TxVerdict{};
    return TxVerdict{.fate = TxVerdict::Fate::behind_next, .behind = 1};
  };
  const std::vector<std::int32_t> psns = send_three();
  ASSERT_GE(psns.size(), 3U);
  EXPECT_EQ(psns[0], 1);
  EXPECT_THAT((std::vector{psns[1], psns[2]}), testing::Contains(0));
}

TEST_P(Misbehaviour, AltersAPacketWithOrWithoutARightIcrc) {
  hook_.transmit = [](std::span<std::byte> packet, int n) {
    if (n > 1) return TxVerdict{};
    packet[12] ^= std::byte{0xFF};
    return TxVerdict{.seal_again = n == 0};
  };
  send_three();
  EXPECT_EQ(pair_.b.memory()[0], pair_.a.memory()[0]);
  EXPECT_EQ(pair_.b.device().counters().icrc_errors, 1U);
  EXPECT_THAT(pair_.network.trace()[0], HasGoodIcrc());
  EXPECT_THAT(pair_.network.trace()[1], testing::Not(HasGoodIcrc()));
}

TEST_P(Misbehaviour, AnswersWithAChosenNak) {
  Hook responder;
  responder.nak = AethSyndrome::rnr_nak(3);
  must(pair_.b.device().set_hook(pair_.b.qpn(), &responder));
  const std::uint64_t id = pair_.a.post({.opcode = WorkOpcode::write, .length = 32});
  ASSERT_TRUE(pair_.network.run_until_idle());
  EXPECT_THAT(pair_.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_THAT(pair_.network.trace(), testing::Contains(HasSyndrome(AethSyndrome::rnr_nak(3))));
  EXPECT_EQ(pair_.a.counters().rnr_naks_received, 1U);
  must(pair_.b.device().set_hook(pair_.b.qpn(), nullptr));
}

ROCE_UNDER_EACH_PROFILE(Misbehaviour);

class DatagramMisbehaviour : public ScenarioTest {
 protected:
  static Pair::Options options() {
    Pair::Options options = Pair::with(profile());
    options.a_endpoint.type = transport::QpType::ud;
    return options;
  }
  DatagramMisbehaviour() : pair_(options()), address_(address_of(pair_.a, pair_.b_host)) {
    must(pair_.a.device().set_hook(pair_.a.qpn(), &hook_));
    for (std::uint64_t i = 0; i < 4; ++i) pair_.b.post_receive(64 * i, 64);
  }

  void post_three() {
    for (std::uint32_t i = 1; i <= 3; ++i) {
      pair_.a.post({.length = i, .datagram = {.ah = address_, .qpn = pair_.b.qpn(), .q_key = kQKey}});
    }
  }
  /// Returns the lengths of the datagrams that arrived, in this order.
  std::vector<std::uint32_t> arrived() {
    EXPECT_TRUE(pair_.network.run_until_idle());
    constexpr std::uint32_t area = 40;
    std::vector<std::uint32_t> lengths;
    for (const transport::Completion& received : pair_.b.received()) lengths.push_back(received.byte_length - area);
    return lengths;
  }

  Hook hook_;
  Pair pair_;
  transport::Ah address_;
};

TEST_P(DatagramMisbehaviour, SendsADatagramLater) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    if (n != 0) return TxVerdict{};
    return TxVerdict{.fate = TxVerdict::Fate::delay, .delay = 5ms};
  };
  post_three();
  EXPECT_THAT(arrived(), ElementsAre(2, 3, 1));
  EXPECT_GE(pair_.network.now().time_since_epoch(), 5ms);
}

TEST_P(DatagramMisbehaviour, SendsADatagramBehindTheNext) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    if (n != 0) return TxVerdict{};
    return TxVerdict{.fate = TxVerdict::Fate::behind_next, .behind = 1};
  };
  post_three();
  EXPECT_THAT(arrived(), testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_LT(pair_.network.now().time_since_epoch(), 5ms);
}

TEST_P(DatagramMisbehaviour, SendsADatagramTwice) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    return TxVerdict{.fate = n == 1 ? TxVerdict::Fate::duplicate : TxVerdict::Fate::send};
  };
  post_three();
  EXPECT_THAT(arrived(), testing::UnorderedElementsAre(1, 2, 2, 3));
}

TEST_P(DatagramMisbehaviour, LosesADatagramWhoseAddressHandleIsDestroyedFirst) {
  hook_.transmit = [](std::span<std::byte>, int n) {
    if (n != 2) return TxVerdict{};
    return TxVerdict{.fate = TxVerdict::Fate::delay, .delay = 5ms};
  };
  post_three();
  const auto two_arrived = [&] { return pair_.b.received().size() == 2; };
  ASSERT_TRUE(pair_.network.run_until(two_arrived, "two datagrams"));
  must(pair_.a.device().destroy_ah(address_));
  EXPECT_THAT(arrived(), ElementsAre(1, 2));
}

ROCE_UNDER_EACH_PROFILE(DatagramMisbehaviour);

}  // namespace
}  // namespace roce::sim
