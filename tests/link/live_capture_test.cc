// SPDX-License-Identifier: BSD-2-Clause
// Captures on an interface, in a network namespace of its own.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "own_network.h"
#include "roce/link/capture_reader.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A network in which one socket sends to another, which takes what it can, so that nothing is refused.
class LiveCapture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto& reason = OwnNetwork::unavailable()) GTEST_SKIP() << *reason;
    network_.emplace();
    to_.sin_family = AF_INET;
    to_.sin_port = htons(4791);
    to_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    receiver_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sender_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(receiver_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_), 0);
  }
  void TearDown() override {
    if (receiver_ >= 0) ::close(receiver_);
    if (sender_ >= 0) ::close(sender_);
  }
  void send(const std::string& text) const {
    EXPECT_EQ(::sendto(sender_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_),
              static_cast<ssize_t>(text.size()));
  }

  std::optional<OwnNetwork> network_;
  sockaddr_in to_{};
  int receiver_ = -1;
  int sender_ = -1;
};

TEST_F(LiveCapture, SeesWhatIsSent) {
  bool was_sent = false;
  auto reader = CaptureReader::capture("lo", [&](int fd) {
    if (!was_sent) {
      for (const char* const text : {"one", "two", "three"}) send(text);
    }
    was_sent = true;
    pollfd state{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&state, 1, 10'000), 1) << "nothing came";
    return true;
  });
  ASSERT_TRUE(reader) << reader.error().message;
  CaptureRecord record;
  for (const std::string text : {"one", "two", "three"}) {
    ASSERT_TRUE(reader->next(record));
    const std::string seen(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
    EXPECT_TRUE(seen.ends_with(text));
    EXPECT_EQ(record.original_length, 14 + 20 + 8 + text.size());
    EXPECT_EQ(record.link_type, kLinkTypeEthernet);
    EXPECT_GT(record.timestamp_ns, 1'700'000'000'000'000'000);
  }
  ASSERT_THAT(reader->interfaces(), SizeIs(1));
  EXPECT_EQ(reader->interfaces()[0].name, "lo");
}

TEST_F(LiveCapture, CountsWhatTheReaderWasTooLateFor) {
  // Between two interfaces, because the kernel counts what goes through lo twice, as sent and as received.
  network_->ip("link add here type veth peer name there");
  network_->ip("link set here up");
  network_->ip("link set there up");
  // More than the ring holds.
  constexpr std::uint64_t kSent = 100'000;
  const int wire = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  sockaddr_ll from{};
  from.sll_family = AF_PACKET;
  from.sll_ifindex = static_cast<int>(::if_nametoindex("here"));
  const std::string frame(1400, 'x');
  std::uint64_t waits = 0;
  auto reader = CaptureReader::capture("there", [&](int fd) {
    if (waits++ == 0) {
      for (std::uint64_t i = 0; i < kSent; ++i) {
        EXPECT_EQ(::sendto(wire, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&from), sizeof from),
                  static_cast<ssize_t>(frame.size()));
      }
      return true;
    }
    pollfd state{fd, POLLIN, 0};
    return ::poll(&state, 1, 1000) == 1;
  });
  ASSERT_TRUE(reader) << reader.error().message;
  CaptureRecord record;
  std::uint64_t seen = 0;
  std::uint64_t others = 0;  // the interfaces introduce themselves to each other
  while (reader->next(record)) ++(record.original_length == frame.size() ? seen : others);
  ::close(wire);
  ASSERT_TRUE(reader->interfaces()[0].statistics);
  const std::uint64_t dropped = reader->interfaces()[0].statistics->dropped_os.value_or(0);
  EXPECT_GT(seen, 10'000U);
  EXPECT_GT(dropped, 10'000U);
  EXPECT_GE(seen + dropped, kSent);
  EXPECT_LE(seen + dropped, kSent + 100) << others << " others were seen";
}

TEST(LiveCaptureOf, AnInterfaceThatDoesNotExistIsRefused) {
  const auto reader = CaptureReader::capture("no-such-if0", [](int) { return false; });
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("no-such-if0: cannot capture: "));
}

}  // namespace
}  // namespace roce::link::test
