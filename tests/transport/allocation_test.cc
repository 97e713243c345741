// SPDX-License-Identifier: BSD-2-Clause
// A device promises not to allocate memory after set-up, neither if all goes well nor if packets are lost, receives are
// missing, marks arrive and neighbours have to be asked for.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "roce/transport/device.h"
#include "roce/wire/frame_seal.h"
#include "support/counted_heap.h"

namespace roce::transport {
namespace {

using namespace std::chrono_literals;

std::uint64_t allocations = 0;

/// Counts the heap allocations made during its lifetime.
class Counting {
 public:
  Counting() = default;
  ~Counting() { allocations += test::heap_allocations() - before_; }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  std::uint64_t before_ = test::heap_allocations();
};

template <typename T>
T must(VerbResult<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

constexpr Access kAll = Access::local_write | Access::remote_write | Access::remote_read | Access::remote_atomic |
                        Access::flush_global | Access::flush_persistent;
constexpr std::uint32_t kMtu = 1024;
constexpr std::uint32_t kLength = 5000;

struct Side {
  explicit Side(std::uint8_t number, const char* profile)
      : gid(Gid::from_ipv4({{192, 0, 2, number}})),
        device(must(
            Device::make({.mac = {{2, 0, 0, 0, 0, number}}, .gids = {{.gid = gid}}, .profile = profile_of(profile)},
                         std::mt19937_64{number}))),
        pd(must(device.create_pd())),
        cq(must(device.create_cq(1024))),
        mr(must(device.register_memory(pd, {.memory = memory, .access = kAll}))),
        keys(must(device.query_mr(mr))) {}

  Qpn make_qp() { return must(device.create_qp({.pd = pd, .send_cq = cq, .receive_cq = cq})); }
  void connect(Qpn qp, const Gid& peer, Qpn peer_qp) {
    must(device.modify_qp(qp, {.state = QpState::init, .p_key_index = 0, .port = 1, .access = kAll}, {}));
    must(device.modify_qp(qp,
                          {.state = QpState::rtr,
                           .address = AddressVector{.dgid = peer},
                           .path_mtu = kMtu,
                           .dest_qp = peer_qp,
                           .rq_psn = Psn{100},
                           .max_dest_rd_atomic = 16,
                           .min_rnr_timer = 1},
                          {}));
    must(device.modify_qp(
        qp,
        {.state = QpState::rts, .sq_psn = Psn{100}, .max_rd_atomic = 4, .timeout = 8, .retry_count = 7, .rnr_retry = 7},
        {}));
  }
  void post(Qpn qp, WorkOpcode opcode, const MrInfo& to) {
    const bool is_small =
        opcode == WorkOpcode::compare_swap || opcode == WorkOpcode::fetch_add || opcode == WorkOpcode::atomic_write;
    const std::array<Sge, 1> sges{{{keys.address, is_small ? 8 : kLength, keys.l_key}}};
    const Counting counting;
    must(
        device.post_send(qp, {.wr_id = 1,
                              .opcode = opcode,
                              .sges = opcode == WorkOpcode::flush ? std::span<const Sge>{} : std::span<const Sge>{sges},
                              .remote = {to.address, to.r_key},
                              .flush = {.length = 8}}));
  }
  void post_receive(Qpn qp) {
    const std::array<Sge, 1> sges{{{keys.address + kLength, kLength, keys.l_key}}};
    const Counting counting;
    must(device.post_receive(qp, {.wr_id = 2, .sges = sges}));
  }

  Gid gid;
  std::vector<std::byte> memory = std::vector<std::byte>(1U << 16U);
  Device device;
  Pd pd;
  Cq cq;
  Mr mr;
  MrInfo keys;
};

/// Marks a frame as a congested router does (CE).
void mark(std::span<std::byte> frame) {
  const std::vector<std::byte> before{frame.begin(), frame.end()};
  const FrameSeal seal{parse_frame(before, LinkType::ethernet)};
  constexpr std::uint8_t congested = 3;
  FieldOf<&Ipv4::ecn>::set(frame.data() + kSize<Ethernet>, congested);
  seal.renew(parse_frame(frame, LinkType::ethernet), frame, WrongCheck::repair, WrongCheck::repair);
}

/// Two sides and a wire that loses and marks packets.
struct Wire {
  explicit Wire(const char* profile) : a(1, profile), b(2, profile) {}

  void pass_on(Side& from, Side& to) {
    std::size_t count = 0;
    do {
      {
        const Counting counting;
        count = from.device.transmit(buffer, units, {.link = TxCaps::Link::ethernet}, now);
      }
      for (const TxUnit& unit : std::span{units}.first(count)) {
        ++frames;
        if (frames % 11 == 0) continue;
        if (frames % 7 == 0) mark(unit.bytes);
        const Packet packet = parse_frame(unit.bytes, LinkType::ethernet);
        const Counting counting;
        to.device.prefetch(packet);
        to.device.receive(packet, now);
      }
    } while (count != 0);
  }
  void run(Time until) {
    while (now < until) {
      pass_on(a, b);
      pass_on(b, a);
      const Counting counting;
      while (a.device.poll_event() || b.device.poll_event()) {
      }
      if (a.device.has_output() || b.device.has_output()) continue;
      now = std::min({until, std::max(now, a.device.next_timeout()), std::max(now, b.device.next_timeout())});
      a.device.advance(now);
      b.device.advance(now);
    }
  }

  Side a;
  Side b;
  Time now{};
  std::uint64_t frames = 0;
  std::vector<std::byte> buffer = std::vector<std::byte>(1U << 16U);
  std::array<TxUnit, 16> units{};
};

class Allocations : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { allocations = 0; }
};

TEST_P(Allocations, NoneInTransmitForNeighboursThatAreAskedFor) {
  Side side{1, GetParam()};
  const std::array unknown{Gid::from_ipv4({{192, 0, 2, 7}}), Gid::from_ipv4({{192, 0, 2, 8}})};
  std::array<std::byte, 8192> buffer;
  std::array<TxUnit, 4> units{};
  for (const Gid& peer : unknown) {
    const Qpn qp = side.make_qp();
    side.connect(qp, peer, Qpn{9});
    side.post(qp, WorkOpcode::write, side.keys);
    const auto transmit = [&] {
      const Counting counting;
      std::size_t sent = 0;
      while (const std::size_t count = side.device.transmit(buffer, units, {}, {})) sent += count;
      return sent;
    };
    EXPECT_EQ(transmit(), 0U) << "the address is not known";
    must(side.device.set_neighbour(peer, std::nullopt, {{2, 0, 0, 0, 0, 9}}));
    EXPECT_NE(transmit(), 0U);
    // The neighbour is now known, and moves.
    const Counting counting;
    must(side.device.set_neighbour(peer, std::nullopt, {{2, 0, 0, 0, 0, 10}}));
  }
  EXPECT_EQ(allocations, 0U);
}

TEST_P(Allocations, NoneInAnExchangeWithLossesMarksAndMissingReceives) {
  Wire wire{GetParam()};
  const Qpn a = wire.a.make_qp();
  const Qpn b = wire.b.make_qp();
  wire.a.connect(a, wire.b.gid, b);
  wire.b.connect(b, wire.a.gid, a);
  must(wire.a.device.set_neighbour(wire.b.gid, std::nullopt, wire.b.device.config().mac));
  must(wire.b.device.set_neighbour(wire.a.gid, std::nullopt, wire.a.device.config().mac));
  int done = 0;
  for (int round = 0; round < 20; ++round) {
    for (const WorkOpcode opcode :
         {WorkOpcode::send, WorkOpcode::write, WorkOpcode::write_with_immediate, WorkOpcode::read,
          WorkOpcode::compare_swap, WorkOpcode::fetch_add, WorkOpcode::atomic_write, WorkOpcode::flush}) {
      wire.a.post(a, opcode, wire.b.keys);
    }
    // The receives are posted late.
    wire.run(wire.now + 100us);
    wire.b.post_receive(b);
    wire.b.post_receive(b);
    wire.run(wire.now + 20ms);
    std::array<Completion, 32> completions;
    const Counting counting;
    for (const Completion& completion : std::span{completions}.first(wire.a.device.poll_cq(wire.a.cq, completions))) {
      if (completion.status == CompletionStatus::success) ++done;
    }
    static_cast<void>(wire.b.device.poll_cq(wire.b.cq, completions));
  }
  EXPECT_EQ(done, 160);
  const Counters counters = wire.a.device.counters();
  EXPECT_GT(counters.retransmitted_packets, 0U);
  EXPECT_GT(counters.rnr_naks_received, 0U);
  EXPECT_GT(wire.b.device.counters().ce_received, 0U);
  EXPECT_EQ(allocations, 0U);
}

TEST_P(Allocations, NoneForDatagramsASharedReceiveQueueAndThePort) {
  Wire wire{GetParam()};
  const Srq srq = must(wire.b.device.create_srq(wire.b.pd, 64, 1));
  const auto start = [](Side& side, std::optional<Srq> shared) {
    const Qpn qp = must(side.device.create_qp(
        {.type = QpType::ud, .pd = side.pd, .send_cq = side.cq, .receive_cq = side.cq, .srq = shared}));
    must(side.device.modify_qp(qp, {.state = QpState::init, .p_key_index = 0, .port = 1, .q_key = QKey{1}}, {}));
    must(side.device.modify_qp(qp, {.state = QpState::rtr}, {}));
    must(side.device.modify_qp(qp, {.state = QpState::rts, .sq_psn = Psn{100}}, {}));
    return qp;
  };
  const Qpn a = start(wire.a, std::nullopt);
  const Qpn b = start(wire.b, srq);
  const Ah ah = must(wire.a.device.create_ah(wire.a.pd, {.dgid = wire.b.gid}));
  must(wire.a.device.set_neighbour(wire.b.gid, std::nullopt, wire.b.device.config().mac));
  const std::array<Sge, 1> from{{{wire.a.keys.address, 100, wire.a.keys.l_key}}};
  const std::array<Sge, 1> to{{{wire.b.keys.address, 140, wire.b.keys.l_key}}};
  std::size_t received = 0;
  for (int round = 0; round < 50; ++round) {
    {
      const Counting counting;
      must(wire.b.device.post_srq_receive(srq, {.wr_id = 1, .sges = to}));
      must(wire.b.device.arm_srq_limit(srq, 1));
      must(wire.b.device.request_notify(wire.b.cq, false));
      must(wire.a.device.post_send(a, {.sges = from, .datagram = {.ah = ah, .qpn = b, .q_key = QKey{1}}}));
      must(wire.a.device.set_paused(0, round % 2 == 0));
    }
    wire.run(wire.now + 10us);
    std::array<Completion, 8> completions;
    const Counting counting;
    must(wire.a.device.set_paused(0, false));
    static_cast<void>(wire.b.device.low_priorities());
    static_cast<void>(wire.b.device.counters());
    received += wire.b.device.poll_cq(wire.b.cq, completions);
    static_cast<void>(wire.a.device.poll_cq(wire.a.cq, completions));
  }
  EXPECT_GT(received, 30U) << "one frame in eleven is lost";
  EXPECT_EQ(allocations, 0U);
}

INSTANTIATE_TEST_SUITE_P(Profile, Allocations, testing::Values("rxe", "hardware_like", "strict"));

}  // namespace
}  // namespace roce::transport
