// SPDX-License-Identifier: BSD-2-Clause
// Raw links on veth pairs in network namespaces of the test's own.
#include "roce/link/raw_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "raw_link_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using Delivery = RawLinkOptions::Delivery;

/// Takes CAP_NET_RAW away for a while.
class WithoutRawSockets {
 public:
  WithoutRawSockets() {
    ::syscall(SYS_capget, &header_, before_.data());
    auto data = before_;
    data[0].effective &= ~(1U << CAP_NET_RAW);
    ::syscall(SYS_capset, &header_, data.data());
  }
  WithoutRawSockets(const WithoutRawSockets&) = delete;
  WithoutRawSockets& operator=(const WithoutRawSockets&) = delete;
  ~WithoutRawSockets() { ::syscall(SYS_capset, &header_, before_.data()); }

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> before_{};
};

class RawLinkErrors : public RawLinkTest {
 protected:
  std::string error_of(const std::string& interface, const std::string& filter = {}) {
    RawLinkOptions options;
    options.interface = interface;
    options.filter = filter;
    const auto opened = wire_->a.in([&] { return RawLink::open(options); });
    return opened ? "no error" : opened.error().message;
  }
};

TEST_F(RawLinkErrors, SayWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(error_of("vx"),
            "cannot find interface vx: No such device; roce-gen gids lists the interfaces that there are");
  EXPECT_THAT(error_of(""), HasSubstr("is not the name of an interface"));
  EXPECT_THAT(error_of("a-name-that-is-too-long"), HasSubstr("is not the name of an interface"));
  EXPECT_THAT(error_of("va", "nonsense and"), HasSubstr("\"nonsense and\""));
  wire_->a.ip("link set va down");
  EXPECT_EQ(error_of("va"), "interface va is down; ip link set va up");
}

TEST_F(RawLinkErrors, SayThatItIsNotAllowed) {
  wire_->a.enter([] {
    const WithoutRawSockets reduced;
    const auto opened = RawLink::open({.interface = "va", .filter = {}});
    ASSERT_FALSE(opened);
    EXPECT_TRUE(opened.error().no_permission);
    EXPECT_THAT(opened.error().message, HasSubstr("CAP_NET_RAW"));
  });
  EXPECT_NE(open_a({}), nullptr) << "allowed again";
}

/// The same for both ways in which the kernel hands frames over.
class RawLinkDelivery : public RawLinkTest, public ::testing::WithParamInterface<Delivery> {
 protected:
  [[nodiscard]] RawLinkOptions by(std::string filter = {}) const {
    return {.interface = {}, .filter = std::move(filter), .delivery = GetParam()};
  }
};

INSTANTIATE_TEST_SUITE_P(Raw, RawLinkDelivery, ::testing::Values(Delivery::slot, Delivery::block),
                         [](const auto& which) { return which.param == Delivery::slot ? "Slot" : "Block"; });

TEST_P(RawLinkDelivery, CarriesFramesUnchangedAndInOrderBothWays) {
  const auto a = open_a(by());
  const auto b = open_b(by());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->max_bytes(), 1514U);
  for (const auto& [from, to] : {std::pair{a.get(), b.get()}, std::pair{b.get(), a.get()}}) {
    std::vector<Bytes> sent;
    for (unsigned i = 0; i < 100; ++i) sent.push_back(frame(i == 99 ? 1514 : 60 + i * 13, i));
    std::vector<TxFrame> frames;
    for (const Bytes& bytes : sent) frames.push_back({bytes, {}});
    const auto before = std::chrono::system_clock::now().time_since_epoch();
    EXPECT_EQ(from->send(frames), frames.size());
    const auto kept = collect(*to, frames.size());
    ASSERT_EQ(kept.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(kept[i].bytes, sent[i]) << i;
      EXPECT_EQ(kept[i].frame.wire_length, sent[i].size());
      EXPECT_EQ(kept[i].frame.segment_size, 0U);
      EXPECT_LT(std::abs(kept[i].frame.timestamp_ns - std::chrono::nanoseconds(before).count()), 2'000'000'000);
    }
    EXPECT_EQ(from->counters().sent, 100U);
    EXPECT_EQ(to->counters().received, 100U);
    EXPECT_EQ(from->counters().sent_bytes, to->counters().received_bytes);
  }
  EXPECT_EQ(a->counters(), b->counters()) << "nothing but the frames of the other was seen";
}

TEST_P(RawLinkDelivery, PutsVlanTagsBack) {
  const auto a = open_a(by());
  const auto b = open_b(by());
  ASSERT_TRUE(a && b);
  const std::vector<Bytes> sent{tagged(frame(100, 1), {0x8100, 0x6064}),
                                tagged(frame(100, 2), {0x8100, 0xe000}),
                                tagged(frame(100, 3), {0x88a8, 0x0007}),
                                frame(100, 4),
                                tagged(tagged(frame(100, 5), {0x8100, 0x0005}), {0x88a8, 0x0006}),
                                tagged(frame(1514, 6), {0x8100, 0x0fff})};
  for (const Bytes& bytes : sent) ASSERT_TRUE(send_one(*a, bytes));
  const auto kept = collect(*b, sent.size());
  ASSERT_EQ(kept.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(kept[i].bytes, sent[i]) << i;
    EXPECT_EQ(kept[i].frame.wire_length, sent[i].size());
  }
}

TEST_P(RawLinkDelivery, DoesNotSeeWhatItSends) {
  const auto a = open_a(by());
  const auto other = open_a(by());
  const auto b = open_b(by());
  ASSERT_TRUE(a && other && b);
  ASSERT_TRUE(send_one(*a, frame(100, 1)));
  ASSERT_TRUE(send_one(*b, frame(100, 2)));
  for (Link* link : {static_cast<Link*>(a.get()), static_cast<Link*>(other.get())}) {
    const auto kept = collect(*link, 1);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].bytes, frame(100, 2)) << "also not what another program of this machine sends";
  }
  EXPECT_EQ(collect(*b, 1).size(), 1U);
}

TEST_P(RawLinkDelivery, TakesOnlyWhatTheFilterLetsThrough) {
  const auto a = open_a(by());
  const auto b = open_b(by("ether proto 0x8915"));
  ASSERT_TRUE(a && b);
  Bytes wanted = frame(200, 3);
  wanted[12] = std::byte{0x89};
  wanted[13] = std::byte{0x15};
  for (const Bytes& bytes : {frame(100, 1), wanted, frame(100, 2), wanted}) ASSERT_TRUE(send_one(*a, bytes));
  const auto kept = collect(*b, 2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].bytes, wanted);
  EXPECT_EQ(kept[1].bytes, wanted);
  EXPECT_EQ(b->counters().received, 2U);
}

TEST_P(RawLinkDelivery, SeesFramesToOthersOnlyWhenPromiscuous) {
  const auto a = open_a(by());
  RawLinkOptions options = by();
  options.promiscuous = true;
  const auto b = open_b(options);
  ASSERT_TRUE(a && b);
  EXPECT_THAT(wire_->b.ip("-d link show vb"), HasSubstr("promiscuity 1"));
  Bytes bytes = frame(100, 1);
  bytes[0] = std::byte{0x02};
  ASSERT_TRUE(send_one(*a, bytes));
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].bytes, bytes);
}

TEST_P(RawLinkDelivery, FinishesChecksumsThatTheSenderLeftToItsNic) {
  const auto b = open_b(by("udp dst port 4791 or tcp"));
  ASSERT_TRUE(b);
  const KernelSender sender{*wire_};
  std::vector<std::size_t> sizes{0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 1024, 1452};
  for (const std::size_t size : sizes) {
    for (const bool v6 : {false, true}) ASSERT_TRUE(sender.send_udp(v6, pattern(size, 3)));
  }
  const auto kept = collect(*b, 2 * sizes.size());
  ASSERT_EQ(kept.size(), 2 * sizes.size());
  for (const Kept& one : kept) {
    EXPECT_EQ(transport_checksum_of(one.bytes), 0) << one.bytes.size();
    EXPECT_NE(udp_checksum_field(one.bytes), 0) << "it says that there is none";
  }
  sender.begin_tcp();
  const auto syn = collect(*b, 1);
  ASSERT_EQ(syn.size(), 1U);
  EXPECT_EQ(transport_checksum_of(syn[0].bytes), 0);
}

TEST_P(RawLinkDelivery, FinishesChecksumsBehindVlanTags) {
  if (!has_vlan_devices(*wire_)) GTEST_SKIP() << "this kernel has no VLAN devices (8021q)";
  const auto b = open_b(by());
  ASSERT_TRUE(b);
  const KernelSender sender{*wire_, 7};
  ASSERT_TRUE(sender.send_udp(false, pattern(333, 1)));
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].bytes[12], std::byte{0x81});
  EXPECT_EQ(kept[0].bytes[15], std::byte{7});
  EXPECT_EQ(transport_checksum_of(kept[0].bytes), 0);
}

TEST_P(RawLinkDelivery, TellsTheSegmentsOfUdpSuperFrames) {
  if (!kernel_tells_udp_segments()) GTEST_SKIP() << "kernels before 6.2 do not tell the size of UDP segments";
  const auto b = open_b(by("udp dst port 4791"));
  ASSERT_TRUE(b);
  const KernelSender sender{*wire_};
  ASSERT_TRUE(sender.send_udp(false, pattern(3 * 1000 + 500, 1), 1000));
  ASSERT_TRUE(sender.send_udp(false, pattern(2 * 300, 2), 300));
  ASSERT_TRUE(sender.send_udp(false, pattern(40, 3)));
  const auto kept = collect(*b, 3);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].frame.segment_size, 1000U);
  EXPECT_EQ(kept[0].frame.wire_length, 42U + 3500U);
  EXPECT_EQ(kept[0].bytes.size(), 42U + 3500U) << "also where it is longer than a slot";
  EXPECT_EQ(kept[1].frame.segment_size, 300U);
  EXPECT_EQ(kept[1].bytes.size(), 42U + 600U);
  EXPECT_EQ(kept[2].frame.segment_size, 0U);
  EXPECT_EQ(transport_checksum_of(kept[2].bytes), 0);
}

TEST_P(RawLinkDelivery, CarriesManyFramesWithoutLossWhenTheyAreRead) {
  const auto a = open_a(by());
  const auto b = open_b(by());
  ASSERT_TRUE(a && b);
  constexpr unsigned kCount = 40'000;
  std::vector<Bytes> kinds;
  for (unsigned i = 0; i < 251; ++i) kinds.push_back(frame(60 + i * 5, i));
  unsigned received = 0;
  for (unsigned sent = 0; sent < kCount; sent += 500) {
    std::vector<TxFrame> frames;
    for (unsigned i = 0; i < 500; ++i) frames.push_back({kinds[(sent + i) % kinds.size()], {}});
    ASSERT_EQ(a->send(frames), frames.size());
    for (const Kept& one : collect(*b, 500)) {
      ASSERT_EQ(one.bytes, kinds[received % kinds.size()]) << received;
      ++received;
    }
  }
  EXPECT_EQ(received, kCount);
  EXPECT_EQ(b->counters().receive_drops, 0U);
}

TEST_P(RawLinkDelivery, CountsWhatFindsNoRoom) {
  const auto a = open_a(by());
  RawLinkOptions options = by();
  options.ring_bytes = 1;
  const auto b = open_b(options);
  ASSERT_TRUE(a && b);
  constexpr unsigned kCount = 6000;
  const Bytes bytes = frame(1000, 1);
  const std::vector<TxFrame> frames(kCount, TxFrame{bytes, {}});
  ASSERT_EQ(a->send(frames), kCount);
  std::size_t received = 0;
  std::array<RxFrame, 64> got;
  while (readable(*b, 200)) received += b->receive(got).value_or(0);
  EXPECT_GT(received, 0U);
  EXPECT_LT(received, kCount);
  EXPECT_EQ(b->counters().received, received);
  EXPECT_EQ(b->counters().receive_drops, kCount - received);
  EXPECT_EQ(b->counters().receive_drops, kCount - received) << "asking does not change it";
}

TEST_P(RawLinkDelivery, GivesEachFrameOnceWhenMoreIsAskedForThanTheRingHolds) {
  const auto a = open_a(by());
  RawLinkOptions options = by();
  options.ring_bytes = 1;
  const auto b = open_b(options);
  ASSERT_TRUE(a && b);
  std::vector<Bytes> sent(6000, frame(1000, 1));
  std::vector<TxFrame> frames;
  for (std::uint32_t i = 0; i < sent.size(); ++i) {
    std::memcpy(sent[i].data() + 20, &i, sizeof i);
    frames.push_back({sent[i], {}});
  }
  ASSERT_EQ(a->send(frames), sent.size());
  std::vector<std::uint32_t> numbers;
  std::vector<RxFrame> got(4096);
  while (readable(*b, 200)) {
    const std::size_t count = b->receive(got).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
      numbers.emplace_back();
      std::memcpy(&numbers.back(), got[i].bytes.data() + 20, sizeof numbers.back());
    }
  }
  EXPECT_GT(numbers.size(), 0U);
  EXPECT_TRUE(std::ranges::is_sorted(numbers, std::ranges::less_equal{})) << "a frame came again";
  EXPECT_EQ(numbers.size() + b->counters().receive_drops, sent.size());
}

TEST_P(RawLinkDelivery, CarriesJumboFrames) {
  for (const auto& [space, name] : {std::pair{&wire_->a, "va"}, std::pair{&wire_->b, "vb"}}) {
    space->ip("link set " + std::string(name) + " mtu 9000");
  }
  const auto a = open_a(by());
  const auto b = open_b(by());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->max_bytes(), 9014U);
  const std::vector<Bytes> sent{frame(9014, 1), tagged(frame(9014, 2), {0x8100, 5}), frame(9013, 3)};
  for (const Bytes& bytes : sent) ASSERT_TRUE(send_one(*a, bytes));
  const auto kept = collect(*b, 3);
  ASSERT_EQ(kept.size(), 3U);
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(kept[i].bytes, sent[i]) << i;
}

class RawLinkState : public RawLinkTest {};

TEST_F(RawLinkState, FramesThatAreTooLongAreErrorsAndTheRestGoes) {
  const auto a = open_a({});
  const auto b = open_b({});
  ASSERT_TRUE(a && b);
  const std::vector<Bytes> sent{frame(100, 1), frame(2000, 2), frame(100, 3)};
  std::vector<TxFrame> frames;
  for (const Bytes& bytes : sent) frames.push_back({bytes, {}});
  EXPECT_EQ(a->send(frames), 3U);
  EXPECT_EQ(a->counters().send_errors, 1U);
  EXPECT_EQ(a->counters().sent, 2U);
  const auto kept = collect(*b, 2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].bytes, sent[2]);
}

TEST_F(RawLinkState, SaysWhenTheInterfaceIsGone) {
  const auto a = open_a({});
  ASSERT_TRUE(a);
  ASSERT_TRUE(a->check());
  wire_->a.ip("link del va");
  pollfd waiting{a->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 5000), 1);
  EXPECT_NE(waiting.revents & POLLERR, 0);
  const auto alive = a->check();
  ASSERT_FALSE(alive);
  EXPECT_THAT(alive.error().message, HasSubstr("interface va is gone"));
  const Bytes bytes = frame(100, 1);
  const TxFrame out{bytes, {}};
  const auto sent = a->send({&out, 1});
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, HasSubstr("interface va is gone"));
}

TEST_F(RawLinkState, GoesOnAfterTheInterfaceWasDown) {
  const auto a = open_a({});
  const auto b = open_b({});
  ASSERT_TRUE(a && b);
  wire_->a.ip("link set va down");
  pollfd waiting{a->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 5000), 1);
  EXPECT_TRUE(a->check());
  ASSERT_TRUE(send_one(*a, frame(100, 1)));
  EXPECT_EQ(a->counters().send_errors, 1U);
  wire_->a.ip("link set va up");
  ASSERT_TRUE(send_one(*b, frame(100, 2)));
  ASSERT_TRUE(send_one(*a, frame(100, 3)));
  const auto at_a = collect(*a, 1);
  const auto at_b = collect(*b, 1);
  ASSERT_EQ(at_a.size(), 1U);
  EXPECT_EQ(at_a[0].bytes, frame(100, 2));
  ASSERT_EQ(at_b.size(), 1U);
  EXPECT_EQ(at_b[0].bytes, frame(100, 3));
}

TEST_F(RawLinkState, LeavesNothingOpen) {
  const auto before = open_files();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(open_a({}));
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace roce::link::test
