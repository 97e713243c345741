// SPDX-License-Identifier: BSD-2-Clause
// A port between a device and a link: what it does to frames on their way, seen from the link and from the completions.
#include "roce/port/port.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "roce/link/memory_link.h"
#include "roce/port/dcbx_peer.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/icrc.h"
#include "roce/wire/mac_control.h"
#include "roce/wire/udp.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using transport::Completion;
using transport::CompletionStatus;
using transport::QpState;
using transport::WorkOpcode;

constexpr Time kNow{1h};
constexpr std::uint32_t kMtu = 1024;

template <typename T>
T must(transport::VerbResult<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A link whose other end is the test: it keeps what is sent and delivers what is put there.
class ScriptedLink final : public link::Link {
 public:
  explicit ScriptedLink(link::LinkKind kind) : kind_(kind) {}

  std::vector<link::RxFrame> incoming;
  std::vector<std::pair<std::vector<std::byte>, link::UdpMeta>> sent;
  std::uint16_t only_source_port = 0;  ///< 0: any
  std::uint32_t max_segments = 1;
  std::size_t refuses_after = SIZE_MAX;  ///< number of super-frames that it takes before it refuses one
  std::vector<std::uint32_t> sent_segment_sizes;

  [[nodiscard]] link::LinkKind kind() const override { return kind_; }
  [[nodiscard]] std::size_t max_bytes() const override { return 9216; }
  [[nodiscard]] link::LinkResult<std::size_t> receive(std::span<link::RxFrame> frames) override {
    const std::size_t count = std::min(frames.size(), incoming.size());
    std::copy_n(incoming.begin(), count, frames.begin());
    incoming.erase(incoming.begin(), incoming.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  [[nodiscard]] link::LinkResult<std::size_t> send(std::span<const link::TxFrame> frames) override {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const link::TxFrame& frame = frames[i];
      if (frame.segment_size != 0 && (max_segments == 1 || refuses_after-- == 0)) {
        max_segments = 1;
        return i;
      }
      sent_segment_sizes.push_back(frame.segment_size);
      sent.emplace_back(std::vector<std::byte>{frame.bytes.begin(), frame.bytes.end()}, frame.udp);
    }
    return frames.size();
  }
  [[nodiscard]] link::Segmentation segmentation() const override {
    if (max_segments == 1) return {.refusal = "it was tired"};
    return {.max_segments = max_segments, .max_bytes = 65507};
  }
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] std::uint16_t source_port(std::uint16_t wanted) override {
    return only_source_port == 0 ? wanted : only_source_port;
  }
  [[nodiscard]] link::LinkCounters counters() const override { return {}; }

 private:
  link::LinkKind kind_;
};

/// A device on 192.0.2.`number` with 64 KiB of memory, which knows the MAC addresses of the other hosts.
struct Host {
  explicit Host(std::uint8_t number)
      : gid(Gid::from_ipv4({{192, 0, 2, number}})),
        memory(1U << 16U),
        device(must(transport::Device::make(
            {.mac = {{2, 0, 0, 0, 0, number}}, .gids = {{.gid = gid}}, .port_mtu = kMtu}, std::mt19937_64{number}))),
        pd(must(device.create_pd())),
        cq(must(device.create_cq(256))),
        mr(must(device.register_memory(
            pd, {.memory = memory, .access = transport::Access::local_write | transport::Access::remote_write}))),
        keys(must(device.query_mr(mr))) {
    for (std::uint8_t other = 1; other < 4; ++other) {
      neighbours.set(Gid::from_ipv4({{192, 0, 2, other}}), std::nullopt, {{2, 0, 0, 0, 0, other}});
    }
  }

  [[nodiscard]] Qpn make_qp() {
    return must(device.create_qp(
        {.type = transport::QpType::rc, .pd = pd, .send_cq = cq, .receive_cq = cq, .max_send = 64, .max_receive = 64}));
  }
  void connect(Qpn qp, const Gid& peer, Qpn peer_qp, std::uint8_t service_level = 0) {
    must(device.modify_qp(
        qp, {.state = QpState::init, .p_key_index = 0, .port = 1, .access = transport::Access::remote_write}, kNow));
    must(device.modify_qp(qp,
                          {.state = QpState::rtr,
                           .address = transport::AddressVector{.dgid = peer, .service_level = service_level},
                           .path_mtu = kMtu,
                           .dest_qp = peer_qp,
                           .rq_psn = Psn{100},
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 12},
                          kNow));
    must(device.modify_qp(qp,
                          {.state = QpState::rts,
                           .sq_psn = Psn{100},
                           .max_rd_atomic = 1,
                           .timeout = 14,
                           .retry_count = 7,
                           .rnr_retry = 7},
                          kNow));
  }
  /// Writes from the beginning of the memory to the peer's second half.
  void write(Qpn qp, std::uint32_t length, const transport::MrInfo& to) {
    const transport::Sge sge{keys.address, length, keys.l_key};
    must(device.post_send(
        qp, {.wr_id = 1, .opcode = WorkOpcode::write, .sges = {&sge, 1}, .remote = {to.address + half(), to.r_key}}));
  }
  [[nodiscard]] std::size_t half() const { return memory.size() / 2; }
  void fill() {
    std::mt19937 random{7};
    std::generate(memory.begin(), memory.end(), [&random] { return static_cast<std::byte>(random()); });
  }
  [[nodiscard]] std::vector<CompletionStatus> completed() {
    std::array<Completion, 16> completions;
    const std::size_t count = device.poll_cq(cq, completions);
    std::vector<CompletionStatus> statuses;
    for (std::size_t i = 0; i < count; ++i) statuses.push_back(completions[i].status);
    return statuses;
  }

  Gid gid;
  std::vector<std::byte> memory;
  transport::Device device;
  transport::Pd pd;
  transport::Cq cq;
  transport::Mr mr;
  transport::MrInfo keys;
  StaticNeighbours neighbours;
};

[[nodiscard]] bool second_half_is(const Host& receiver, const Host& sender, std::size_t length) {
  const auto at = receiver.memory.begin() + static_cast<std::ptrdiff_t>(receiver.half());
  return std::equal(at, at + static_cast<std::ptrdiff_t>(length), sender.memory.begin());
}

/// A time at which no ACK is held back any more.
constexpr Time kLater = kNow + 20us;

/// Turns the port until nothing moves.
void run(Port& port, Time now = kNow) {
  for (int i = 0; i < 1000; ++i) {
    if (!port.turn(now).value()) return;
  }
  FAIL() << "the port does not come to rest";
}

TEST(Port, CarriesBetweenDevicesOnAWire) {
  for (const link::LinkKind kind : {link::LinkKind::ethernet, link::LinkKind::udp}) {
    auto [left, right] = std::move(*link::MemoryLink::make_pair({.kind = kind}));
    Host a{1};
    Host b{2};
    a.fill();
    Port a_port{a.device, *left, &a.neighbours};
    Port b_port{b.device, *right, &b.neighbours};
    const Qpn a_qp = a.make_qp();
    const Qpn b_qp = b.make_qp();
    a.connect(a_qp, b.gid, b_qp);
    b.connect(b_qp, a.gid, a_qp);
    a.write(a_qp, 5000, b.keys);
    for (const Time now : {kNow, kNow, kLater, kLater}) {
      run(a_port, now);
      run(b_port, now);
    }
    EXPECT_THAT(a.completed(), ElementsAre(CompletionStatus::success));
    EXPECT_TRUE(second_half_is(b, a, 5000));
  }
}

TEST(Port, TwoQpsOfOneDeviceReachEachOtherWithoutTheWire) {
  ScriptedLink link{link::LinkKind::ethernet};
  Host host{1};
  host.fill();
  Port port{host.device, link, &host.neighbours};
  const Qpn one = host.make_qp();
  const Qpn other = host.make_qp();
  host.connect(one, host.gid, other);
  host.connect(other, host.gid, one);
  host.write(one, 5000, host.keys);
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  port.set_tap([&](Direction direction, Bytes frame, std::int64_t) {
    (direction == Direction::sent ? sent : received).emplace_back(frame.begin(), frame.end());
  });
  run(port);
  run(port, kLater);
  EXPECT_THAT(host.completed(), ElementsAre(CompletionStatus::success));
  EXPECT_TRUE(second_half_is(host, host, 5000));
  EXPECT_THAT(link.sent, IsEmpty());
  EXPECT_THAT(sent, SizeIs(6)) << "5 packets and an ACK";
  EXPECT_EQ(received, sent) << "what goes back to the device is shown as it comes in";
  for (const std::vector<std::byte>& frame : received) {
    EXPECT_EQ(check_icrc(parse_frame(frame, LinkType::ethernet)).status, IcrcStatus::good);
  }
}

/// A WRITE of 5000 bytes as it leaves a device in super-frames, addressed to a given MAC address.
class WriteInSuperFrames {
 public:
  WriteInSuperFrames(Host& from, Host& to, const MacAddress& mac) {
    from.fill();
    const Qpn from_qp = from.make_qp();
    const Qpn to_qp = to.make_qp();
    from.connect(from_qp, to.gid, to_qp);
    to.connect(to_qp, from.gid, from_qp);
    must(from.device.set_neighbour(to.gid, std::nullopt, mac));
    from.write(from_qp, 5000, to.keys);
    std::array<transport::TxUnit, 8> units;
    frames = from.device.transmit(buffer_, units, {.max_bytes = 1U << 14U, .max_segments = 8}, kNow);
    // A NIC that coalesces delivers what one that segments takes. The first packet has a longer header than the next.
    for (const transport::TxUnit& unit : std::span{units}.first(frames)) {
      most_segments = std::max(most_segments, unit.segments);
      link.incoming.push_back({.bytes = unit.bytes,
                               .wire_length = static_cast<std::uint32_t>(unit.bytes.size()),
                               .segment_size = unit.segments > 1 ? unit.segment_size : 0});
    }
  }

  ScriptedLink link{link::LinkKind::ethernet};
  std::size_t frames = 0;
  std::uint32_t most_segments = 0;

 private:
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1U << 16U);
};

TEST(Port, TakesSuperFramesApart) {
  Host a{1};
  Host b{2};
  WriteInSuperFrames write{a, b, b.device.config().mac};
  ASSERT_GE(write.most_segments, 3U) << "no super-frame was made";
  Port port{b.device, write.link, &b.neighbours};
  run(port);
  EXPECT_TRUE(second_half_is(b, a, 5000));
  EXPECT_EQ(b.device.counters().icrc_errors, 0U);
}

TEST(Port, DropsSuperFramesThatAreForAnotherPort) {
  Host a{1};
  Host b{2};
  WriteInSuperFrames write{a, b, {{2, 0, 0, 0, 0, 0x77}}};
  Port port{b.device, write.link, &b.neighbours};
  run(port);
  EXPECT_EQ(b.device.counters().wrong_mac, write.frames);
  EXPECT_EQ(b.device.counters().received_packets, 0U);
  EXPECT_THAT(write.link.sent, IsEmpty());
}

/// Two hosts on links of a kind; the first sends super-frames, and everything that it sends goes to the second.
struct SegmentedPair {
  explicit SegmentedPair(link::LinkKind kind) : a_link(kind), b_link(kind) {
    a_link.max_segments = 64;
    a.fill();
    a_qp = a.make_qp();
    const Qpn b_qp = b.make_qp();
    a.connect(a_qp, b.gid, b_qp);
    b.connect(b_qp, a.gid, a_qp);
    must(a.device.set_neighbour(b.gid, std::nullopt, b.device.config().mac));
    must(b.device.set_neighbour(a.gid, std::nullopt, a.device.config().mac));
  }
  /// Passes frames both ways until nothing moves any more.
  void exchange(Port& from, Port& to) {
    Time now = kNow;
    // Each round is later by the time for which an ACK is held back.
    for (int round = 0; round < 10; ++round, now += kLater - kNow) {
      run(from, now);
      b_link.incoming.clear();
      for (std::size_t i = 0; i < a_link.sent.size(); ++i) {
        b_link.incoming.push_back({.bytes = a_link.sent[i].first,
                                   .wire_length = static_cast<std::uint32_t>(a_link.sent[i].first.size()),
                                   .segment_size = a_link.sent_segment_sizes[i],
                                   .udp = a_link.sent[i].second});
      }
      run(to, now);
      a_link.sent.clear();
      a_link.sent_segment_sizes.clear();
      for (const auto& [bytes, udp] : b_link.sent) {
        a_link.incoming.push_back(
            {.bytes = bytes, .wire_length = static_cast<std::uint32_t>(bytes.size()), .udp = udp});
      }
      run(from, now);
      b_link.sent.clear();
    }
  }

  Host a{1};
  Host b{2};
  Qpn a_qp{};
  ScriptedLink a_link;
  ScriptedLink b_link;
};

class PortSegmentation : public testing::TestWithParam<link::LinkKind> {};
INSTANTIATE_TEST_SUITE_P(Of, PortSegmentation, testing::Values(link::LinkKind::ethernet, link::LinkKind::udp),
                         [](const auto& which) {
                           return which.param == link::LinkKind::udp ? std::string("Udp") : std::string("Ethernet");
                         });

TEST_P(PortSegmentation, SendsSuperFramesAndShowsTheirPackets) {
  SegmentedPair pair{GetParam()};
  pair.a.write(pair.a_qp, 20'000, pair.b.keys);
  Port from{pair.a.device, pair.a_link, &pair.a.neighbours};
  Port to{pair.b.device, pair.b_link, &pair.b.neighbours};
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  from.set_tap([&](Direction direction, Bytes frame, std::int64_t) {
    if (direction == Direction::sent) sent.emplace_back(frame.begin(), frame.end());
  });
  to.set_tap([&](Direction direction, Bytes frame, std::int64_t) {
    if (direction == Direction::received) received.emplace_back(frame.begin(), frame.end());
  });
  run(from);
  EXPECT_TRUE(std::ranges::any_of(pair.a_link.sent_segment_sizes, [](std::uint32_t size) { return size != 0; }));
  EXPECT_LT(pair.a_link.sent.size(), 10U);
  pair.exchange(from, to);
  EXPECT_THAT(pair.a.completed(), ElementsAre(CompletionStatus::success));
  EXPECT_TRUE(second_half_is(pair.b, pair.a, 20'000));
  EXPECT_EQ(pair.b.device.counters().icrc_errors, 0U);
  EXPECT_EQ(pair.a.device.counters().retransmitted_packets, 0U);
  EXPECT_THAT(sent, SizeIs(pair.a.device.counters().sent_packets));
  ASSERT_THAT(received, SizeIs(sent.size()));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Packet packet = parse_frame(sent[i], LinkType::ethernet);
    EXPECT_EQ(packet.problem().reason, ParseReason::none) << i;
    EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good) << i;
    EXPECT_EQ(check_icrc(parse_frame(received[i], LinkType::ethernet)).status, IcrcStatus::good) << i;
    EXPECT_EQ(packet.get<Bth>()->psn, parse_frame(received[i], LinkType::ethernet).get<Bth>()->psn) << i;
  }
}

TEST_P(PortSegmentation, GoesOnPacketByPacketWhenTheLinkRefuses) {
  SegmentedPair pair{GetParam()};
  for (int i = 0; i < 3; ++i) pair.a.write(pair.a_qp, 20'000, pair.b.keys);
  pair.a_link.refuses_after = 1;
  Port from{pair.a.device, pair.a_link, &pair.a.neighbours};
  Port to{pair.b.device, pair.b_link, &pair.b.neighbours};
  std::vector<std::string> refusals;
  from.set_on_refusal([&](const std::string& why) { refusals.push_back(why); });
  run(from);
  EXPECT_EQ(std::ranges::count(pair.a_link.sent_segment_sizes, 0U) + 1, std::ssize(pair.a_link.sent_segment_sizes))
      << "one super-frame, and the rest alone";
  for (std::size_t i = 0; i < pair.a_link.sent.size(); ++i) {
    const auto& [bytes, udp] = pair.a_link.sent[i];
    if (GetParam() != link::LinkKind::udp || pair.a_link.sent_segment_sizes[i] != 0) continue;
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = pair.a.gid;
    net.destination = pair.b.gid;
    net.traffic_class = udp.traffic_class;
    net.hop_limit = udp.hop_limit;
    net.udp_source_port = udp.source_port;
    net.ip_id = 0;
    EXPECT_EQ(check_icrc(parse_transport(bytes, net)).status, IcrcStatus::good) << i;
  }
  pair.exchange(from, to);
  EXPECT_THAT(refusals, ElementsAre("it was tired"));
  EXPECT_THAT(pair.a.completed(),
              ElementsAre(CompletionStatus::success, CompletionStatus::success, CompletionStatus::success));
  EXPECT_TRUE(second_half_is(pair.b, pair.a, 20'000));
  EXPECT_EQ(pair.b.device.counters().icrc_errors, 0U);
  EXPECT_EQ(pair.a.device.counters().retransmitted_packets, 0U) << "nothing was lost";
}

TEST_P(PortSegmentation, MovesTheIcrcsToAnotherSourcePort) {
  if (GetParam() != link::LinkKind::udp) return;
  SegmentedPair pair{GetParam()};
  pair.a_link.only_source_port = 61'111;
  pair.a.write(pair.a_qp, 20'000, pair.b.keys);
  Port from{pair.a.device, pair.a_link, &pair.a.neighbours};
  Port to{pair.b.device, pair.b_link, &pair.b.neighbours};
  pair.exchange(from, to);
  EXPECT_TRUE(second_half_is(pair.b, pair.a, 20'000));
  EXPECT_EQ(pair.b.device.counters().icrc_errors, 0U);
}

TEST(PortSegmentation, TakesSuperFramesToOneselfApart) {
  Host host{1};
  host.fill();
  ScriptedLink link{link::LinkKind::ethernet};
  link.max_segments = 64;
  Port port{host.device, link, &host.neighbours};
  const Qpn one = host.make_qp();
  const Qpn other = host.make_qp();
  host.connect(one, host.gid, other);
  host.connect(other, host.gid, one);
  host.write(one, 5000, host.keys);
  run(port);
  run(port, kLater);
  EXPECT_THAT(host.completed(), ElementsAre(CompletionStatus::success));
  EXPECT_TRUE(second_half_is(host, host, 5000));
  EXPECT_EQ(host.device.counters().retransmitted_packets, 0U);
  EXPECT_THAT(link.sent, IsEmpty());
}

/// Returns a PFC or PAUSE frame.
template <typename Parameters>
[[nodiscard]] std::vector<std::byte> control_frame(MacControlOpcode opcode, const Parameters& parameters,
                                                   const MacAddress& to = {{0x01, 0x80, 0xC2, 0, 0, 0x01}}) {
  std::vector<std::byte> frame(60);
  FrameBuilder builder{frame};
  builder.add(Ethernet{to, {{2, 0, 0, 0, 0, 9}}, EtherType::mac_control}).add(MacControl{opcode}).add(parameters);
  EXPECT_TRUE(builder.finish());
  return frame;
}

/// A paused host with a WRITE of priority 3 to send; 65535 quanta are 3.36 ms at 10 Gbit/s.
class PausedPort : public testing::Test {
 protected:
  PausedPort() {
    const Qpn qp = host_.make_qp();
    host_.connect(qp, Host{2}.gid, Qpn{77}, 3);
    EXPECT_EQ(must(host_.device.query_qp(qp)).service_level, 3);
    qp_ = qp;
  }

  void receive(const std::vector<std::byte>& frame, Time now) {
    link_.incoming.push_back({.bytes = frame, .wire_length = static_cast<std::uint32_t>(frame.size())});
    run(port_, now);
  }
  void write() { host_.write(qp_, 8, host_.keys); }

  Host host_{1};
  ScriptedLink link_{link::LinkKind::ethernet};
  Port port_{host_.device, link_, &host_.neighbours};
  Qpn qp_{};
};

TEST_F(PausedPort, PfcHoldsItsPriorityUntilItsTimerEnds) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  const Time end = port_.next_timeout();
  EXPECT_EQ(end - kNow, 3355392ns);
  run(port_, end - 1ns);
  EXPECT_THAT(link_.sent, IsEmpty());
  run(port_, end);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, PfcOfAnotherPriorityHoldsNothing) {
  Pfc pfc;
  pfc.set(4, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, PfcOfAPriorityThatDcbxDidNotAgreeOnHoldsNothing) {
  DcbxConfig config;
  config.pfc = {.willing = true, .capability = 8};
  config.pfc.set(4, true);
  DcbxPeer dcbx{config, host_.device.config().mac, "eth0"};
  int changes = 0;
  port_.set_dcbx(&dcbx, [&changes] { ++changes; });
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1)) << "this end tells what it is set to";
  link_.sent.clear();
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
  // The other end is set to priority 3, and this one is willing.
  DcbxConfig other;
  other.pfc.set(3, true);
  DcbxPeer peer{other, {{2, 0, 0, 0, 0, 0x77}}, "eth1"};
  ASSERT_TRUE(peer.update(kNow));
  receive({peer.frame().begin(), peer.frame().end()}, kNow);
  EXPECT_EQ(changes, 1);
  link_.sent.clear();
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  // It leaves: this end's own settings hold again.
  const Bytes goodbye = peer.goodbye();
  receive({goodbye.begin(), goodbye.end()}, kNow);
  EXPECT_EQ(changes, 2);
  run(port_, kNow + 1s);
  link_.sent.clear();
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow + 1s);
  write();
  run(port_, kNow + 1s);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, DividesTheLinkAsDcbxHasAgreed) {
  DcbxConfig config;
  config.ets.willing = true;
  DcbxPeer dcbx{config, host_.device.config().mac, "eth0"};
  port_.set_dcbx(&dcbx, {});
  DcbxEts shares;
  shares.set_traffic_class(3, 1);
  shares.set_share(0, 30);
  shares.set_share(1, 70);
  DcbxPeer peer{{.recommendation = recommendation_of(shares)}, {{2, 0, 0, 0, 0, 0x77}}, "eth1"};
  ASSERT_TRUE(peer.update(kNow));
  receive({peer.frame().begin(), peer.frame().end()}, kNow);
  const transport::TrafficClasses& classes = host_.device.config().traffic_classes;
  EXPECT_EQ(classes.class_of[3], 1);
  EXPECT_EQ(classes.percent[1], 70);
  EXPECT_EQ(classes.selection[1], transport::TransmissionSelection::ets);
}

TEST_F(PausedPort, PfcForAnotherPortHoldsNothing) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc, {{2, 0, 0, 0, 0, 0x77}}), kNow);
  receive(control_frame(MacControlOpcode::pfc, pfc, {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}), kNow);
  EXPECT_EQ(host_.device.counters().malformed, 2U);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
  receive(control_frame(MacControlOpcode::pfc, pfc, host_.device.config().mac), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1)) << "one that is sent to us alone counts";
}

TEST_F(PausedPort, PfcWithATagHoldsNothing) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  std::vector<std::byte> frame = control_frame(MacControlOpcode::pfc, pfc);
  constexpr std::array tag{std::byte{0x81}, std::byte{0}, std::byte{0x60}, std::byte{0}};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  receive(frame, kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, AZeroTimerResumesAtOnce) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  pfc.set(3, 0);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow + 1us);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, PauseHoldsAllPriorities) {
  receive(control_frame(MacControlOpcode::pause, Pause{100}), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  EXPECT_EQ(port_.next_timeout() - kNow, 5120ns);
  run(port_, kNow + 5120ns);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, HoldsWhatAnotherPortOfTheInterfaceWasSent) {
  Host other{2};
  ScriptedLink link{link::LinkKind::ethernet};
  Port first{other.device, link, &other.neighbours};
  int handed_on = 0;
  first.set_on_pause([&](Bytes frame) {
    ++handed_on;
    port_.take_pause(frame, kNow);
  });
  const std::vector<std::byte> not_it(60);
  const std::vector<std::byte> pause = control_frame(MacControlOpcode::pause, Pause{100});
  for (const std::vector<std::byte>* frame : {&not_it, &pause}) {
    link.incoming.push_back({.bytes = *frame, .wire_length = static_cast<std::uint32_t>(frame->size())});
  }
  run(first, kNow);
  EXPECT_EQ(handed_on, 1);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  run(port_, kNow + 5120ns);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST(Port, MakesAndShowsTheIcrcForTheSourcePortThatTheLinkReallyHas) {
  for (const bool is_wrong : {false, true}) {
    Host host{1};
    ScriptedLink link{link::LinkKind::udp};
    link.only_source_port = 40'000;
    Port port{host.device, link, nullptr};
    const Qpn qp = host.make_qp();
    host.connect(qp, Host{2}.gid, Qpn{77});
    struct Breaker final : transport::MisbehaviourHook {
      transport::TxVerdict on_transmit(std::span<std::byte> packet, Time) override {
        packet.back() ^= std::byte{1};
        return {};
      }
    } breaker;
    if (is_wrong) must(host.device.set_hook(qp, &breaker));
    std::vector<std::byte> shown;
    port.set_tap([&shown](Direction, Bytes frame, std::int64_t) { shown.assign(frame.begin(), frame.end()); });
    host.write(qp, 8, host.keys);
    run(port);
    ASSERT_THAT(link.sent, SizeIs(1));
    const auto& [bytes, udp] = link.sent.front();
    EXPECT_EQ(udp.source_port, 40'000);
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = host.gid;
    net.destination = Host{2}.gid;
    net.udp_source_port = udp.source_port;
    net.ip_id = 0;
    const Packet tapped = parse_frame(shown, LinkType::ethernet);
    ASSERT_TRUE(tapped.get<Udp>());
    EXPECT_EQ(tapped.get<Udp>()->source_port, 40'000);
    for (const Packet& packet : {parse_transport(bytes, net, static_cast<std::uint32_t>(bytes.size())), tapped}) {
      const IcrcVerdict verdict = check_icrc(packet);
      EXPECT_EQ(verdict.status, is_wrong ? IcrcStatus::bad : IcrcStatus::good) << to_string(verdict);
      EXPECT_EQ(verdict.stored ^ verdict.computed, is_wrong ? 0x0100'0000U : 0U) << "wrong in the bit that was meant";
    }
  }
}

}  // namespace
}  // namespace roce::port
