// SPDX-License-Identifier: BSD-2-Clause
// Captures on an interface, in a network namespace of its own.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "own_network.h"
#include "roce/link/capture_reader.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(LiveCapture, SeesWhatIsSentAndCountsIt) {
  if (const auto& reason = OwnNetwork::unavailable()) GTEST_SKIP() << *reason;
  const OwnNetwork network;
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(socket, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4791);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bool was_sent = false;
  auto reader = CaptureReader::capture("lo", [&](int fd) {
    if (!was_sent) {
      for (const std::string text : {"one", "two", "three"}) {
        EXPECT_EQ(::sendto(socket, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  static_cast<ssize_t>(text.size()));
      }
    }
    was_sent = true;
    pollfd state{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&state, 1, 10'000), 1) << "nothing came";
    return true;
  });
  ASSERT_TRUE(reader) << reader.error().message;
  CaptureRecord record;
  for (const std::string text : {"one", "two", "three"}) {
    // Refusals by ICMP stand between them.
    std::string seen;
    do {
      ASSERT_TRUE(reader->next(record));
      seen.assign(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
    } while (!seen.ends_with(text) || record.original_length != 14 + 20 + 8 + text.size());
    EXPECT_EQ(record.link_type, kLinkTypeEthernet);
    EXPECT_GT(record.timestamp_ns, 1'700'000'000'000'000'000);
  }
  ::close(socket);
  ASSERT_THAT(reader->interfaces(), SizeIs(1));
  EXPECT_EQ(reader->interfaces()[0].name, "lo");
  ASSERT_TRUE(reader->interfaces()[0].statistics);
  EXPECT_EQ(reader->interfaces()[0].statistics->dropped_os, 0);
}

TEST(LiveCapture, SaysWhatIsWrongWithAnInterface) {
  const auto reader = CaptureReader::capture("no-such-if0", [](int) { return false; });
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("no-such-if0: cannot capture: "));
}

}  // namespace
}  // namespace roce::link::test
