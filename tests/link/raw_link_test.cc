// SPDX-License-Identifier: BSD-2-Clause
// Raw links on veth pairs in network namespaces of the test's own.
#include "roce/link/raw_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

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

LinkResult<std::unique_ptr<Link>> open_raw(const std::string& interface, Room room, Delivery delivery) {
  RawLinkOptions options;
  options.interface = interface;
  options.delivery = delivery;
  if (room == Room::little) options.ring_bytes = 1;
  return RawLink::open(options);
}

INSTANTIATE_TEST_SUITE_P(
    Raw, EthernetLink,
    ::testing::Values(
        EthernetLinkKind{"Slot", [](const auto& name, Room room) { return open_raw(name, room, Delivery::slot); }},
        EthernetLinkKind{"Block", [](const auto& name, Room room) { return open_raw(name, room, Delivery::block); }}),
    [](const auto& which) { return which.param.name; });

/// Runs the same tests for both ways in which the kernel hands frames over.
class RawLinkDelivery : public RawLinkTest, public ::testing::WithParamInterface<Delivery> {
 protected:
  [[nodiscard]] RawLinkOptions by(std::string filter = {}) const {
    return {.interface = {}, .filter = std::move(filter), .delivery = GetParam()};
  }
};

INSTANTIATE_TEST_SUITE_P(Raw, RawLinkDelivery, ::testing::Values(Delivery::slot, Delivery::block),
                         [](const auto& which) { return which.param == Delivery::slot ? "Slot" : "Block"; });

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

TEST_F(RawLinkTest, ThatSendsOnlyReceivesNothing) {
  RawLinkOptions options;
  options.sends_only = true;
  const auto a = open_a(options);
  const auto b = open_b({});
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(send_one(*a, frame(1500, 1)));
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].bytes, frame(1500, 1));
  ASSERT_TRUE(send_one(*b, frame(100, 2)));
  std::array<RxFrame, 4> frames;
  EXPECT_EQ(a->receive(frames), 0U);
  EXPECT_EQ(a->counters(), (LinkCounters{.sent = 1, .sent_bytes = 1500}));
}

TEST_F(RawLinkTest, ThatSendsOnlyLosesWhatADownInterfaceDoesNotTake) {
  RawLinkOptions options;
  options.sends_only = true;
  const auto a = open_a(options);
  ASSERT_TRUE(a);
  wire_->a.ip("link set va down");
  const Bytes bytes = frame(100, 1);
  EXPECT_EQ(a->send(std::array{TxFrame{bytes, {}}}), 1U);
  EXPECT_EQ(a->counters().send_errors, 1U);
  EXPECT_TRUE(a->check());
  wire_->a.ip("link set va up");
  EXPECT_TRUE(send_one(*a, bytes));
  wire_->a.ip("link del va");
  const auto gone = a->send(std::array{TxFrame{bytes, {}}});
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("interface va is gone"));
  const auto alive = a->check();
  ASSERT_FALSE(alive);
  EXPECT_THAT(alive.error().message, HasSubstr("interface va is gone"));
}

TEST_P(RawLinkDelivery, TakesOnlyWhatTheFilterLetsThrough) {
  const auto a = open_a(by());
  const auto b = open_b(by("ether proto 0x8915"));
  ASSERT_TRUE(a && b);
  const Bytes wanted = frame(200, 3);
  for (const Bytes& bytes : {frame(100, 1, kOtherType), wanted, frame(100, 2, kOtherType), wanted})
    ASSERT_TRUE(send_one(*a, bytes));
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

}  // namespace
}  // namespace roce::link::test
