// SPDX-License-Identifier: BSD-2-Clause
// AF_XDP links on veth pairs in network namespaces of the test's own.
#include "roce/link/xdp_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <set>
#include <vector>

#include "raw_link_fixture.h"
#include "xdp_link_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using Mode = XdpLinkOptions::Mode;

[[maybe_unused]] const bool kOnTheHost = [] {
  roce::test::NetworkNamespace::stay_on_the_host();
  return true;
}();

LinkResult<std::unique_ptr<Link>> open_xdp(const std::string& interface, Room room, Mode mode) {
  XdpLinkOptions options;
  options.interface = interface;
  options.mode = mode;
  if (room == Room::little) options.ring_bytes = 1;
  return XdpLink::open(options);
}

INSTANTIATE_TEST_SUITE_P(
    Xdp, EthernetLink,
    ::testing::Values(
        EthernetLinkKind{"Native", [](const auto& name, Room room) { return open_xdp(name, room, Mode::native); }},
        EthernetLinkKind{"Generic", [](const auto& name, Room room) { return open_xdp(name, room, Mode::generic); }}),
    [](const auto& which) { return which.param.name; });

class XdpLinkErrors : public XdpLinkTest {};

TEST_F(XdpLinkErrors, SayWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(error_of({.interface = "vx", .copies = {}}),
            "cannot find interface vx: No such device; roce-gen gids lists the interfaces that there are");
  EXPECT_EQ(error_of({.interface = {}, .queues = 2, .copies = {}}),
            "cannot listen on 2 receive queues of va: it has 1; take fewer, or make more (ethtool -L)");
  EXPECT_THAT(error_of({.interface = {}, .copies = "nonsense and"}), HasSubstr("\"nonsense and\""));
  EXPECT_FALSE(has_program(wire_->a, "va"));
  wire_->a.ip("link set va down");
  EXPECT_EQ(error_of({.interface = {}, .copies = {}}), "interface va is down; ip link set va up");
}

TEST_F(XdpLinkErrors, SayWhichDriverKnowsNoXdpOrTakeGeneric) {
  wire_->a.ip("link set lo up");
  EXPECT_THAT(error_of({.interface = "lo", .mode = Mode::native, .copies = {}}),
              AllOf(HasSubstr("lo in native mode"), HasSubstr("Operation not supported"), HasSubstr("--link raw")));
  const auto opened = wire_->a.in([] { return XdpLink::open({.interface = "lo", .copies = {}}); });
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->setup().mode, XdpMode::generic);
  EXPECT_EQ((*opened)->setup().why_generic, "Operation not supported");
  const auto native = open_a({});
  ASSERT_TRUE(native);
  EXPECT_EQ(native->setup().mode, XdpMode::native);
  EXPECT_EQ(native->setup().why_generic, "");
}

TEST_F(XdpLinkErrors, SayThatThereIsAnotherProgram) {
  const auto first = open_a({});
  ASSERT_TRUE(first);
  const auto files = open_files();
  EXPECT_THAT(error_of({.interface = {}, .copies = {}}), HasSubstr("there is another one"));
  EXPECT_THAT(error_of({.interface = {}, .mode = Mode::generic, .copies = {}}), HasSubstr("there is another one"));
  EXPECT_EQ(open_files(), files);
  const auto b = open_b({});
  ASSERT_TRUE(b);
  ASSERT_TRUE(send_one(*b, frame(100, 1)));
  EXPECT_EQ(collect(*first, 1).size(), 1U) << "it still works";
}

/// Takes capabilities away for a while.
class Without {
 public:
  explicit Without(const std::vector<unsigned>& capabilities) {
    ::syscall(SYS_capget, &header_, before_.data());
    auto data = before_;
    for (const unsigned one : capabilities) data[one / 32].effective &= ~(1U << (one % 32));
    ::syscall(SYS_capset, &header_, data.data());
  }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;
  ~Without() { ::syscall(SYS_capset, &header_, before_.data()); }

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> before_{};
};

TEST_F(XdpLinkErrors, SayThatItIsNotAllowed) {
  wire_->a.enter([] {
    for (const auto& needed : {std::vector<unsigned>{CAP_BPF, CAP_SYS_ADMIN}, std::vector<unsigned>{CAP_NET_RAW}}) {
      const Without reduced{needed};
      const auto opened = XdpLink::open({.interface = "va", .copies = {}});
      ASSERT_FALSE(opened);
      EXPECT_TRUE(opened.error().no_permission);
      EXPECT_THAT(opened.error().message, HasSubstr("CAP_BPF"));
    }
  });
  EXPECT_FALSE(has_program(wire_->a, "va"));
}

TEST_F(XdpLinkErrors, SayThatTooLittleMemoryMayBeLocked) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
  const rlimit little{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &little), 0);
  const auto files = open_files();
  {
    const Without locking{{CAP_IPC_LOCK}};
    EXPECT_THAT(error_of({.interface = {}, .copies = {}}),
                AllOf(HasSubstr("bytes for queue 0 of va"), HasSubstr("ulimit -l")));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &before), 0);
  EXPECT_EQ(open_files(), files);
  EXPECT_FALSE(has_program(wire_->a, "va")) << "nothing half-done";
  EXPECT_TRUE(open_a({}));
}

class XdpLinkState : public XdpLinkTest {};

TEST_F(XdpLinkState, ReceiveSaysThatTheInterfaceIsGone) {
  const auto a = open_a({});
  ASSERT_TRUE(a);
  wire_->a.ip("link del va");
  std::array<RxFrame, 4> frames;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  LinkResult<std::size_t> got = 0;
  while (got && std::chrono::steady_clock::now() < deadline) {
    EXPECT_TRUE(readable(*a, 1000)) << "until it was told";
    got = a->receive(frames);
  }
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("interface va is gone"));
}

TEST_F(XdpLinkState, AKilledProcessLeavesNoProgram) {
  std::array<int, 2> opened{};
  ASSERT_EQ(::pipe(opened.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto link = wire_->a.in([] { return XdpLink::open({.interface = "va", .copies = {}}); });
    const char answer = link ? 'y' : 'n';
    (void)!::write(opened[1], &answer, 1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(opened[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(has_program(wire_->a, "va"));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  for (const int end : opened) ::close(end);
  // The kernel may still take a process apart after it was waited for.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (has_program(wire_->a, "va") && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_FALSE(has_program(wire_->a, "va"));
  EXPECT_TRUE(open_a({})) << "at once";
}

TEST_F(XdpLinkState, CarriesFramesLongerThanAChunkInTheirOrder) {
  for (const auto& [space, name] : {std::pair{&wire_->a, "va"}, std::pair{&wire_->b, "vb"}}) {
    space->ip("link set " + std::string(name) + " mtu 9000");
  }
  const auto a = open_a({});
  const auto b = open_b({});
  ASSERT_TRUE(a && b);
  std::vector<Bytes> kinds;
  for (const std::size_t size : {4200U, 60U, 3840U, 3841U, 4096U, 4097U, 8192U, 8193U, 9014U, 100U}) {
    kinds.push_back(frame(size, static_cast<unsigned>(size)));
  }
  constexpr std::size_t kRounds = 400;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<TxFrame> frames;
    for (const Bytes& bytes : kinds) frames.push_back({bytes, {}});
    ASSERT_EQ(a->send(frames), frames.size());
    const auto kept = collect(*b, frames.size());
    ASSERT_EQ(kept.size(), frames.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) ASSERT_EQ(kept[i].bytes, kinds[i]) << round << " " << i;
  }
  EXPECT_EQ(b->counters().receive_drops, 0U);
  EXPECT_EQ(a->counters().send_errors, 0U);
}

TEST_F(XdpLinkState, HasTheOtherEndOfAVethCutSuperFramesInNativeMode) {
  const KernelSender sender{*wire_};
  for (const char* mtu : {"1500", "9000"}) {
    for (const auto& [space, name] : {std::pair{&wire_->a, "va"}, std::pair{&wire_->b, "vb"}}) {
      space->ip(std::string("link set ") + name + " mtu " + mtu);
    }
    const auto b = open_b({.interface = {}, .mode = Mode::native, .copies = {}});
    ASSERT_TRUE(b);
    ASSERT_TRUE(sender.send_udp(false, pattern(3 * 1000 + 500, 1), 1000));
    const auto kept = collect(*b, 4);
    ASSERT_EQ(kept.size(), 4U) << mtu;
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(kept[i].bytes.size(), 42U + (i < 3 ? 1000U : 500U)) << i;
  }
}

TEST_F(XdpLinkState, GivesCopiesOfWhatGoesOnToTheKernel) {
  const auto a = wire_->a.in([] { return RawLink::open({.interface = "va", .filter = {}}); }).value();
  const auto kernel = wire_->b.in([] { return RawLink::open({.interface = "vb", .filter = "arp"}); }).value();
  const auto b = open_b({.interface = {}, .copies = "arp"});
  ASSERT_TRUE(b);
  const Bytes arp = frame(60, 1, 0x0806);
  ASSERT_TRUE(send_one(*a, arp));
  for (Link* link : {static_cast<Link*>(b.get()), static_cast<Link*>(kernel.get())}) {
    const auto kept = collect(*link, 1);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].bytes, arp);
  }
  ASSERT_TRUE(send_one(*a, frame(100, 2, kOtherType)));
  ASSERT_TRUE(send_one(*a, frame(100, 3)));
  const auto roce = collect(*b, 1);
  ASSERT_EQ(roce.size(), 1U);
  EXPECT_EQ(roce[0].bytes, frame(100, 3));
  EXPECT_EQ(b->counters().received, 2U);
}

TEST_F(XdpLinkState, ThatSendsOnlyLeavesTheInterfaceToTheKernel) {
  const auto kernel = wire_->a.in([] { return RawLink::open({.interface = "va", .filter = {}}); }).value();
  for (const char* mtu : {"1500", "9000"}) {
    for (const auto& [space, name] : {std::pair{&wire_->a, "va"}, std::pair{&wire_->b, "vb"}}) {
      space->ip(std::string("link set ") + name + " mtu " + mtu);
    }
    const auto a = open_a({.interface = {}, .sends_only = true, .copies = {}});
    const auto b = open_b({});
    ASSERT_TRUE(a && b);
    EXPECT_FALSE(has_program(wire_->a, "va"));
    ASSERT_TRUE(send_one(*a, frame(1500, 1)));
    const auto kept = collect(*b, 1);
    ASSERT_EQ(kept.size(), 1U) << mtu;
    EXPECT_EQ(kept[0].bytes, frame(1500, 1));
    ASSERT_TRUE(send_one(*b, frame(100, 2)));
    EXPECT_EQ(collect(*kernel, 1).size(), 1U);
    std::array<RxFrame, 4> frames;
    EXPECT_EQ(a->receive(frames), 0U);
    EXPECT_EQ(a->counters().received, 0U);
  }
}

TEST_F(XdpLinkState, ThatSendsOnlyLosesWhatADownInterfaceDoesNotTake) {
  const auto a = open_a({.interface = {}, .sends_only = true, .copies = {}});
  ASSERT_TRUE(a);
  wire_->a.ip("link set va down");
  const Bytes bytes = frame(100, 1);
  EXPECT_EQ(a->send(std::array{TxFrame{bytes, {}}}), 1U);
  EXPECT_EQ(a->counters().send_errors, 1U);
  wire_->a.ip("link set va up");
  wire_->a.ip("link del va");
  const auto gone = a->send(std::array{TxFrame{bytes, {}}});
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("interface va is gone"));
}

TEST_F(XdpLinkState, IsPromiscuousWhenAskedUntilItGoes) {
  const auto is_promiscuous = [&] {
    return wire_->a.ip("-d link show dev va").find("promiscuity 1") != std::string::npos;
  };
  {
    const auto a = open_a({.interface = {}, .copies = {}, .promiscuous = true});
    ASSERT_TRUE(a);
    EXPECT_TRUE(is_promiscuous());
  }
  EXPECT_FALSE(is_promiscuous());
}

/// Interfaces with four queues: the kernel's frames spread over them by the headers of their flows.
class XdpLinkQueues : public XdpLinkTest {
 protected:
  static constexpr unsigned kQueues = 4;
  static constexpr unsigned kFlows = 64;

  void SetUp() override {
    XdpLinkTest::SetUp();
    if (IsSkipped()) return;
    wire_->a.ip("link del va");
    const std::string queues = " numtxqueues 4 numrxqueues 4 ";
    wire_->a.ip("link add name va" + queues + "type veth peer name vb" + queues + "netns " + wire_->b.path());
    for (const auto& [space, name] : {std::pair{&wire_->a, "va"}, std::pair{&wire_->b, "vb"}}) {
      space->ip("link set " + std::string(name) + " up");
    }
    wire_->a.ip("address add 10.7.0.1/24 dev va");
    wire_->a.ip("neighbour add 10.7.0.2 lladdr 02:00:00:00:00:02 dev va");
  }
  /// Sends a RoCE v2 packet of each flow, each from another UDP source port.
  void send_flows() const {
    wire_->a.enter([] {
      for (unsigned flow = 0; flow < kFlows; ++flow) {
        const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
        // A port that the kernel chooses may be that of an earlier flow.
        sockaddr_in from{};
        from.sin_family = AF_INET;
        from.sin_port = htons(static_cast<std::uint16_t>(50'000 + flow));
        EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(4791);
        ::inet_pton(AF_INET, "10.7.0.2", &to.sin_addr);
        EXPECT_EQ(::sendto(fd, "roce", 4, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), 4);
        ::close(fd);
      }
    });
  }
};

TEST_F(XdpLinkQueues, AreOneLink) {
  const auto b = open_b({});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->setup().queues, kQueues);
  EXPECT_EQ(b->setup().interface_queues, kQueues);
  send_flows();
  const auto kept = collect(*b, kFlows);
  std::set<unsigned> flows;
  for (const Kept& one : kept) flows.insert(two_bytes(one.bytes, 34));
  EXPECT_EQ(flows.size(), kFlows) << "each flow once";
  EXPECT_EQ(b->counters().received, kFlows);
}

TEST_F(XdpLinkQueues, LeaveWhatNobodyListensToToTheKernel) {
  const auto kernel = wire_->b.in([] { return RawLink::open({.interface = "vb", .filter = "udp port 4791"}); }).value();
  const auto b = open_b({.interface = {}, .queues = 1, .copies = {}});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->setup().queues, 1U);
  send_flows();
  std::size_t ours = 0;
  std::size_t theirs = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  std::array<RxFrame, 64> frames;
  while (ours + theirs < kFlows && std::chrono::steady_clock::now() < deadline) {
    ours += b->receive(frames).value_or(0);
    theirs += kernel->receive(frames).value_or(0);
  }
  EXPECT_EQ(ours + theirs, kFlows);
  EXPECT_GT(ours, 0U);
  EXPECT_GT(theirs, ours) << "three queues of four";
}

TEST_F(XdpLinkQueues, KeepTheOrderOfWhatIsSent) {
  const auto a = open_a({});
  const auto b = open_b({});
  ASSERT_TRUE(a && b);
  std::vector<Bytes> sent;
  std::vector<TxFrame> frames;
  for (unsigned i = 0; i < 500; ++i) sent.push_back(frame(100 + i, i));
  for (const Bytes& bytes : sent) frames.push_back({bytes, {}});
  ASSERT_EQ(a->send(frames), frames.size());
  const auto kept = collect(*b, frames.size());
  ASSERT_EQ(kept.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(kept[i].bytes, sent[i]) << i;
}

}  // namespace
}  // namespace roce::link::test
