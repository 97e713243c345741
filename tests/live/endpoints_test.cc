// SPDX-License-Identifier: BSD-2-Clause
// Several endpoints in one process, in threads of their own.
#include "live/two_endpoints.h"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>

#include "roce/link/memory_link.h"
#include "roce/live/endpoint.h"

namespace {

using ::testing::HasSubstr;

/// The two ends of a wire in memory, whose addresses are claimed at the same time, as each asks the other.
struct OnAWire {
  live::Result<std::unique_ptr<live::Endpoint>> a = live::cannot("not opened");
  live::Result<std::unique_ptr<live::Endpoint>> b = live::cannot("not opened");

  OnAWire() {
    auto wire = roce::link::MemoryLink::make_pair({});
    std::thread other{[&] { b = live::Endpoint::open_on(std::move(wire->second), {.ip = "198.51.100.2/24"}); }};
    a = live::Endpoint::open_on(std::move(wire->first), {.ip = "198.51.100.1/24"});
    other.join();
  }
};

TEST(Endpoints, TalkOverAWireInMemory) {
  const OnAWire wire;
  ASSERT_TRUE(wire.a) << wire.a.error().message;
  ASSERT_TRUE(wire.b) << wire.b.error().message;
  EXPECT_EQ(say_between(**wire.a, **wire.b, "hello"), "hello");
  EXPECT_EQ(say_between(**wire.b, **wire.a, "and back"), "and back");
}

TEST(Endpoints, TalkOverUdpOnLoopback) {
  live::EndpointOptions options{.interface = "lo", .link = live::LinkChoice::udp, .address = "127.0.81.1"};
  const auto a = live::Endpoint::open(options);
  ASSERT_TRUE(a) << a.error().message;
  options.address = "127.0.81.2";
  const auto b = live::Endpoint::open(options);
  ASSERT_TRUE(b) << b.error().message;
  EXPECT_EQ(say_between(**a, **b, "hello"), "hello");
}

TEST(Endpoints, EndTogetherByOneDescriptor) {
  const int stop = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  live::EndpointOptions options{.interface = "lo", .link = live::LinkChoice::udp, .address = "127.0.81.1"};
  options.stop_fd = stop;
  const auto a = live::Endpoint::open(options);
  ASSERT_TRUE(a) << a.error().message;
  options.address = "127.0.81.2";
  const auto b = live::Endpoint::open(options);
  ASSERT_TRUE(b) << b.error().message;
  std::atomic stopped = 0;
  const auto wait = [&](live::Endpoint& endpoint) {
    const auto ran = endpoint.driver().run([](roce::Time) { return live::Driver::Step::idle; });
    if (ran && !*ran) ++stopped;
  };
  std::thread other{[&] { wait(**b); }};
  ASSERT_EQ(::eventfd_write(stop, 1), 0);
  wait(**a);
  other.join();
  EXPECT_EQ(stopped, 2);
  ::close(stop);
}

TEST(Endpoints, LeaveSignalsOfTheProcessAlone) {
  sigset_t before;
  sigset_t after;
  struct sigaction pipe_before {};
  struct sigaction pipe_after {};
  std::signal(SIGPIPE, SIG_DFL);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  ::sigaction(SIGPIPE, nullptr, &pipe_before);
  const auto endpoint =
      live::Endpoint::open({.interface = "lo", .link = live::LinkChoice::udp, .address = "127.0.81.3"});
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  ::sigaction(SIGPIPE, nullptr, &pipe_after);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE})
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
  EXPECT_EQ(pipe_before.sa_handler, pipe_after.sa_handler);
}

TEST(Endpoints, HaveSeriesOfRandomNumbersOfTheirOwn) {
  const auto first_numbers = [] {
    auto wire = roce::link::MemoryLink::make_pair({});
    const auto endpoint = live::Endpoint::open_on(std::move(wire->first), {.ip = "198.51.100.1/24", .seed = 7});
    return std::pair{(*endpoint)->random().number(), (*endpoint)->random().number()};
  };
  const auto numbers = first_numbers();
  EXPECT_EQ(numbers, first_numbers());
  EXPECT_NE(numbers.first, numbers.second);
}

TEST(Endpoints, RefuseALinkThatCannotCarryAnAddress) {
  auto datagrams = roce::link::MemoryLink::make_pair({.kind = roce::link::LinkKind::udp});
  const auto no_ethernet = live::Endpoint::open_on(std::move(datagrams->first), {.ip = "198.51.100.1/24"});
  ASSERT_FALSE(no_ethernet);
  EXPECT_THAT(no_ethernet.error().message, HasSubstr("give an Ethernet link"));
  EXPECT_FALSE(no_ethernet.error().has_begun);
  auto wire = roce::link::MemoryLink::make_pair({});
  const auto no_address = live::Endpoint::open_on(std::move(wire->first), {});
  ASSERT_FALSE(no_address);
  EXPECT_THAT(no_address.error().message, HasSubstr("give the endpoint one of its own"));
}

}  // namespace
