// SPDX-License-Identifier: BSD-2-Clause
// Two hosts (namespaces) on one wire; the kernel of the other one answers ARP and neighbour discovery.
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "namespace_test.h"
#include "roce/port/neighbours.h"
#include "support/ip_text.h"

namespace roce::port::test {
namespace {

using ::roce::test::CommandOutcome;
using ::roce::test::gid;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Answers = std::vector<Neighbours::Answer>;

constexpr MacAddress kMadeUpMac{{2, 0, 0, 0, 0, 0x99}};
constexpr auto kPatience = std::chrono::seconds{20};
constexpr Time kStart{};

/// Takes CAP_NET_ADMIN from the calling thread, as an ordinary user's thread does not have it.
class WithoutNetAdmin {
 public:
  WithoutNetAdmin() {
    call(SYS_capget);
    const std::uint32_t before = data_[0].effective;
    data_[0].effective &= ~(1u << CAP_NET_ADMIN);
    EXPECT_NE(data_[0].effective, before);
    call(SYS_capset);
    data_[0].effective = before;
  }
  WithoutNetAdmin(const WithoutNetAdmin&) = delete;
  WithoutNetAdmin& operator=(const WithoutNetAdmin&) = delete;
  ~WithoutNetAdmin() { call(SYS_capset); }

 private:
  void call(long number) { EXPECT_EQ(syscall(number, &header_, data_.data()), 0); }

  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data_{};
};

class KernelNeighboursTest : public NamespaceTest {
 protected:
  void SetUp() override {
    NamespaceTest::SetUp();
    if (IsSkipped()) return;
    here_.emplace();
    there_.emplace();
    roce::test::connect_by_veth(*here_, "va", *there_, "vb");
    // A host that does not answer is given up after three of these intervals.
    set(*here_, "ipv4/neigh/va/retrans_time_ms", 50);
    set(*here_, "ipv6/neigh/va/retrans_time_ms", 50);
    here_->ip("address add 192.0.2.1/24 dev va");
    here_->ip("address add 2001:db8::1/64 dev va nodad");
    here_->ip("address add fe80::1/64 dev va nodad");
  }

  static void set(const NetworkNamespace& space, const std::string& name, int value) {
    const CommandOutcome done = space.run("echo " + std::to_string(value) + " > /proc/sys/net/" + name);
    ASSERT_EQ(done.exit_code, 0) << done.output;
  }

  [[nodiscard]] std::unique_ptr<Neighbours> open() const {
    auto neighbours = here_->in([] {
      const auto interface = find_interface("va");
      EXPECT_TRUE(interface.has_value());
      return open_kernel_neighbours(*interface);
    });
    EXPECT_TRUE(neighbours.has_value()) << neighbours.error().message;
    return std::move(*neighbours);
  }

  [[nodiscard]] std::optional<MacAddress> find(Neighbours& neighbours, const std::string& ip, Time now = kStart) const {
    return here_->in([&] { return neighbours.find(gid(ip), std::nullopt, now); });
  }

  /// Waits for events until `poll` has an answer.
  [[nodiscard]] Answers answers(Neighbours& neighbours, Time now = kStart) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      Answers found = here_->in([&] { return neighbours.poll(now); });
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd event{neighbours.fd(), POLLIN, 0};
      if (!found.empty() || left.count() <= 0) return found;
      ::poll(&event, 1, static_cast<int>(left.count()));
    }
  }

  /// Returns the state that our neighbour table shows for an address; empty if it has no entry.
  [[nodiscard]] std::string state_of(const std::string& ip) const {
    const json shown = ip_json(*here_, "neigh show to " + ip + " dev va nud all");
    return shown.empty() ? std::string{} : shown[0].at("state")[0].get<std::string>();
  }

  /// Waits until the kernel has given up an address, which `poll` does not report.
  void wait_until_failed(Neighbours& neighbours, const std::string& ip) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (state_of(ip) != "FAILED") {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << ip << " is " << state_of(ip);
      pollfd event{neighbours.fd(), POLLIN, 0};
      ::poll(&event, 1, 1000);
      EXPECT_THAT(here_->in([&] { return neighbours.poll(kStart); }), IsEmpty());
    }
  }

  [[nodiscard]] MacAddress here_mac() const { return mac_of(*here_, "va"); }
  [[nodiscard]] MacAddress there_mac() const { return mac_of(*there_, "vb"); }

  std::optional<NetworkNamespace> here_;
  std::optional<NetworkNamespace> there_;
};

TEST_F(KernelNeighboursTest, AreResolvedByArpAndNeighbourDiscovery) {
  there_->ip("address add 192.0.2.2/24 dev vb");
  there_->ip("address add 2001:db8::2/64 dev vb nodad");
  there_->ip("address add fe80::2/64 dev vb nodad");
  for (const char* ip : {"192.0.2.2", "2001:db8::2", "fe80::2"}) {
    const auto neighbours = open();
    EXPECT_EQ(state_of(ip), "");
    ASSERT_EQ(find(*neighbours, ip), std::nullopt) << ip;
    EXPECT_EQ(neighbours->next_timeout(), kStart + std::chrono::seconds{1});
    EXPECT_THAT(answers(*neighbours), ElementsAre(Neighbours::Answer{gid(ip), std::nullopt, there_mac()})) << ip;
    EXPECT_EQ(find(*neighbours, ip), there_mac()) << ip;
    EXPECT_EQ(neighbours->next_timeout(), kNever);
    EXPECT_THAT(here_->in([&] { return neighbours->poll(kStart); }), IsEmpty()) << "told twice";
  }
}

TEST_F(KernelNeighboursTest, AreResolvedWithoutAnyPrivilege) {
  there_->ip("address add 192.0.2.2/24 dev vb");
  there_->ip("address add 2001:db8::2/64 dev vb nodad");
  there_->ip("address add fe80::2/64 dev vb nodad");
  for (const char* ip : {"192.0.2.2", "2001:db8::2", "fe80::2"}) {
    std::unique_ptr<Neighbours> neighbours;
    here_->enter([&] {
      const auto interface = find_interface("va");
      ASSERT_TRUE(interface.has_value());
      const WithoutNetAdmin unprivileged;
      auto opened = open_kernel_neighbours(*interface);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      neighbours = std::move(*opened);
      EXPECT_EQ(neighbours->find(gid(ip), std::nullopt, kStart), std::nullopt) << ip;
    });
    ASSERT_TRUE(neighbours);
    EXPECT_THAT(answers(*neighbours), ElementsAre(Neighbours::Answer{gid(ip), std::nullopt, there_mac()})) << ip;
  }
}

TEST_F(KernelNeighboursTest, BehindARouterHaveTheRoutersAddress) {
  there_->ip("address add 192.0.2.2/24 dev vb");
  there_->ip("address add fe80::2/64 dev vb nodad");
  here_->ip("route add 198.51.100.0/24 via 192.0.2.2");
  here_->ip("route add 203.0.113.0/24 via inet6 fe80::2 dev va");
  here_->ip("-6 route add default via fe80::2 dev va");
  for (const char* ip : {"198.51.100.7", "203.0.113.7", "2001:db8:1::7"}) {
    const auto neighbours = open();
    std::optional<MacAddress> mac = find(*neighbours, ip);
    if (!mac) {
      const Answers found = answers(*neighbours);
      ASSERT_EQ(found.size(), 1u) << ip;
      EXPECT_EQ(found[0].ip, gid(ip));
      mac = found[0].mac;
    }
    EXPECT_EQ(mac, there_mac()) << ip;
    EXPECT_EQ(state_of(ip), "") << ip << " was looked for on the wire";
  }
}

TEST_F(KernelNeighboursTest, OfTheHostItselfHaveItsOwnAddress) {
  here_->ip("link set lo up");
  here_->ip("address add 203.0.113.9/32 dev lo");
  here_->ip("address add 2001:db8:9::9/128 dev lo");
  const auto neighbours = open();
  for (const char* ip : {"192.0.2.1", "2001:db8::1", "fe80::1", "203.0.113.9", "2001:db8:9::9"}) {
    EXPECT_EQ(find(*neighbours, ip), here_mac()) << ip;
  }
}

TEST_F(KernelNeighboursTest, ThatAreGroupsOrEverybodyNeedNoSearch) {
  const auto neighbours = open();
  EXPECT_EQ(find(*neighbours, "224.1.2.3"), (MacAddress{{0x01, 0, 0x5E, 1, 2, 3}}));
  EXPECT_EQ(find(*neighbours, "ff02::1"), (MacAddress{{0x33, 0x33, 0, 0, 0, 1}}));
  EXPECT_EQ(find(*neighbours, "192.0.2.255"), (MacAddress{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}));
}

TEST_F(KernelNeighboursTest, WithAPermanentEntryNeedNoSearch) {
  here_->ip("neigh add 192.0.2.9 lladdr 02:00:00:00:00:99 dev va nud permanent");
  here_->ip("neigh add 2001:db8::9 lladdr 02:00:00:00:00:99 dev va nud noarp");
  const auto neighbours = open();
  EXPECT_EQ(find(*neighbours, "192.0.2.9"), kMadeUpMac);
  EXPECT_EQ(find(*neighbours, "2001:db8::9"), kMadeUpMac);
}

TEST_F(KernelNeighboursTest, WithAStaleEntryAreUsedAndConfirmed) {
  here_->ip("neigh add 192.0.2.9 lladdr 02:00:00:00:00:99 dev va nud stale");
  const auto neighbours = open();
  EXPECT_EQ(find(*neighbours, "192.0.2.9"), kMadeUpMac);
  EXPECT_THAT(state_of("192.0.2.9"), AnyOf("DELAY", "PROBE"));
}

TEST_F(KernelNeighboursTest, ThatMoveAreToldAgain) {
  here_->ip("neigh add 192.0.2.9 lladdr 02:00:00:00:00:99 dev va nud reachable");
  const auto neighbours = open();
  ASSERT_EQ(find(*neighbours, "192.0.2.9"), kMadeUpMac);
  // Events that are not news: another state, another host, another interface.
  here_->ip("link add name vx type veth peer name vy");
  here_->ip("link set vx up");
  here_->ip("neigh replace 192.0.2.9 lladdr 02:00:00:00:00:99 dev va nud stale");
  here_->ip("neigh replace 192.0.2.8 lladdr 02:00:00:00:00:77 dev va nud reachable");
  here_->ip("neigh replace 192.0.2.9 lladdr 02:00:00:00:00:66 dev vx nud reachable");
  pollfd event{neighbours->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 0), 1);
  EXPECT_THAT(here_->in([&] { return neighbours->poll(kStart); }), IsEmpty());
  here_->ip("neigh replace 192.0.2.9 lladdr 02:00:00:00:00:88 dev va nud reachable");
  const MacAddress moved{{2, 0, 0, 0, 0, 0x88}};
  EXPECT_THAT(answers(*neighbours), ElementsAre(Neighbours::Answer{gid("192.0.2.9"), std::nullopt, moved}));
}

TEST_F(KernelNeighboursTest, ThatDoNotAnswerAreAskedForOnceASecondUntilTheyDo) {
  for (const std::string ip : {"192.0.2.2", "2001:db8::2"}) {
    const auto neighbours = open();
    EXPECT_EQ(find(*neighbours, ip), std::nullopt);
    wait_until_failed(*neighbours, ip);
    EXPECT_THAT(neighbours->why_unknown(gid(ip), std::nullopt), HasSubstr("cannot find")) << "outside the namespace";
    EXPECT_THAT(here_->in([&] { return neighbours->why_unknown(gid(ip), std::nullopt); }),
                HasSubstr(ip + " does not answer on va"));
    there_->ip("address add " + ip + (gid(ip).is_ipv4_mapped() ? "/24 dev vb" : "/64 dev vb nodad"));

    const Time soon = kStart + std::chrono::milliseconds{999};
    EXPECT_EQ(find(*neighbours, ip, soon), std::nullopt);
    EXPECT_THAT(here_->in([&] { return neighbours->poll(soon); }), IsEmpty());
    EXPECT_EQ(state_of(ip), "FAILED") << "asked for again too soon";

    ASSERT_EQ(neighbours->next_timeout(), kStart + std::chrono::seconds{1});
    EXPECT_THAT(answers(*neighbours, neighbours->next_timeout()),
                ElementsAre(Neighbours::Answer{gid(ip), std::nullopt, there_mac()}));
  }
}

TEST_F(KernelNeighboursTest, WithoutRouteAreNotLookedForAndTheReasonIsSaid) {
  const auto neighbours = open();
  for (const std::string ip : {"198.51.100.7", "2001:db8:1::7"}) {
    EXPECT_EQ(find(*neighbours, ip), std::nullopt) << ip;
    EXPECT_EQ(state_of(ip), "") << ip;
    EXPECT_EQ(here_->in([&] { return neighbours->why_unknown(gid(ip), std::nullopt); }),
              "cannot find the MAC address of " + ip +
                  ": there is no route to it through va; give va an address in its "
                  "network, or a route to it, or give the MAC address");
  }
  // A route that appears is noticed by the next try.
  there_->ip("address add 198.51.100.7/24 dev vb");
  here_->ip("address add 198.51.100.1/24 dev va");
  EXPECT_THAT(answers(*neighbours, kStart + std::chrono::seconds{1}),
              ElementsAre(Neighbours::Answer{gid("198.51.100.7"), std::nullopt, there_mac()}));
}

TEST_F(KernelNeighboursTest, ThatARouteForbidsAreNotFound) {
  here_->ip("route add unreachable 192.0.2.64/26");
  const auto neighbours = open();
  EXPECT_EQ(find(*neighbours, "192.0.2.65"), std::nullopt);
  EXPECT_EQ(state_of("192.0.2.65"), "");
}

TEST_F(KernelNeighboursTest, OnAnInterfaceThatIsDownSaySo) {
  const auto neighbours = open();
  here_->ip("link set va down");
  EXPECT_EQ(find(*neighbours, "192.0.2.2"), std::nullopt);
  EXPECT_EQ(here_->in([&] { return neighbours->why_unknown(gid("192.0.2.2"), std::nullopt); }),
            "cannot find the MAC address of 192.0.2.2: va is down; set it up (ip link set va up)");
  here_->ip("link del va");
  EXPECT_EQ(find(*neighbours, "192.0.2.2", kStart + std::chrono::seconds{5}), std::nullopt);
  EXPECT_EQ(here_->in([&] { return neighbours->why_unknown(gid("192.0.2.2"), std::nullopt); }),
            "cannot find the MAC address of 192.0.2.2: the interface va is gone");
}

TEST_F(KernelNeighboursTest, ReachedThroughAnotherInterfaceAreLookedForOnThisOne) {
  // The better route leads elsewhere, but the frames leave here.
  here_->ip("link add name vx type veth peer name vy");
  here_->ip("link set vx up");
  here_->ip("link set vy up");
  here_->ip("address add 192.0.2.129/25 dev vx");
  there_->ip("address add 192.0.2.130/24 dev vb");
  const auto neighbours = open();
  EXPECT_EQ(find(*neighbours, "192.0.2.130"), std::nullopt);
  EXPECT_THAT(answers(*neighbours), ElementsAre(Neighbours::Answer{gid("192.0.2.130"), std::nullopt, there_mac()}));
}

TEST_F(KernelNeighboursTest, InAVlanWithoutDeviceAreNotFoundAndTheReasonIsSaid) {
  const auto neighbours = open();
  EXPECT_EQ(here_->in([&] { return neighbours->find(gid("192.0.2.2"), 5, kStart); }), std::nullopt);
  EXPECT_EQ(here_->in([&] { return neighbours->why_unknown(gid("192.0.2.2"), 5); }),
            "cannot find the MAC address of 192.0.2.2: va has no device for VLAN 5; make one (ip link add link va name "
            "va.5 type vlan id 5), or give the MAC address");
}

TEST_F(KernelNeighboursTest, InAVlanAreFoundThroughItsDevice) {
  const CommandOutcome made = here_->run("ip link add link va name va.6 type vlan id 6");
  if (made.exit_code != 0) GTEST_SKIP() << "this kernel has no VLAN devices: " << made.output;
  here_->ip("link add link va name va.5 type vlan id 5");
  there_->ip("link add link vb name vb.5 type vlan id 5");
  there_->ip("link set vb.5 up");
  there_->ip("address add 198.51.100.2/24 dev vb.5");
  here_->ip("link set va.5 up");
  here_->ip("address add 198.51.100.1/24 dev va.5");
  const auto neighbours = open();
  EXPECT_EQ(here_->in([&] { return neighbours->find(gid("198.51.100.2"), 5, kStart); }), std::nullopt);
  EXPECT_THAT(answers(*neighbours), ElementsAre(Neighbours::Answer{gid("198.51.100.2"), 5, there_mac()}));
}

}  // namespace
}  // namespace roce::port::test
