// SPDX-License-Identifier: BSD-2-Clause
#include "perftest/handshake.h"

#include <gmock/gmock.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace roce::gen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Time kStart{seconds{1000}};

/// One end of a channel in memory.
class MemoryChannel final : public PerftestChannel {
 public:
  void send(std::string_view message) override { (other != nullptr ? other->received : sent) += message; }
  [[nodiscard]] bool has(std::size_t size) override { return received.size() >= size; }
  [[nodiscard]] bool is_closed() override { return closed; }
  [[nodiscard]] std::string take(std::size_t size) override {
    std::string message = received.substr(0, size);
    received.erase(0, size);
    return message;
  }

  MemoryChannel* other = nullptr;
  std::string sent;  // bytes that were sent without another end
  std::string received;
  bool closed = false;
};

/// One end of a channel that keeps messages apart and has binary keys.
class MessageChannel final : public PerftestChannel {
 public:
  void send(std::string_view message) override { (other != nullptr ? other->received : sent).emplace_back(message); }
  [[nodiscard]] bool has(std::size_t /*size*/) override { return !received.empty(); }
  [[nodiscard]] bool is_closed() override { return received.empty() && other == nullptr; }
  [[nodiscard]] std::string take(std::size_t /*size*/) override {
    if (received.empty()) return {};
    std::string message = received.front();
    received.pop_front();
    return message;
  }
  [[nodiscard]] bool has_binary_keys() const override { return true; }

  MessageChannel* other = nullptr;
  std::deque<std::string> sent;  // messages that were sent without another end
  std::deque<std::string> received;
};

struct Heard {
  PerftestAgreement agreed;
  PerftestKeys keys;
  PerftestFigures figures;
};

live::Task<> tell_all(PerftestChannel& channel, PerftestRole role, std::uint32_t mtu, const PerftestKeys& own,
                      const PerftestFigures& figures, Heard& heard) {
  heard.agreed = co_await exchange_agreement(channel, role, mtu);
  heard.keys = co_await exchange_keys(channel, role, own);
  heard.figures = co_await exchange_figures(channel, role, figures);
}

template <typename Channel>
void expect_both_hear_the_same() {
  Channel to_server;
  Channel to_client;
  to_server.other = &to_client;
  to_client.other = &to_server;
  const PerftestKeys of_client{.qpn = Qpn{5}, .psn = Psn{6}, .address = 7};
  const PerftestKeys of_server{.qpn = Qpn{8}, .psn = Psn{9}, .address = 10};
  const PerftestFigures of_both{
      .size = 65536, .messages = 40, .peak_mib = 0, .average_mib = 13.6015, .mega_messages = 2.5};
  Heard client;
  Heard server;
  live::Script tells{tell_all(to_server, PerftestRole::client, 4096, of_client, of_both, client)};
  live::Script answers{tell_all(to_client, PerftestRole::server, 1024, of_server, of_both, server)};
  for (int i = 0; i < 20; ++i) {
    tells.step(kStart);
    answers.step(kStart);
  }
  ASSERT_TRUE(tells.is_over() && answers.is_over());
  EXPECT_EQ(tells.error() + answers.error(), "");
  EXPECT_EQ(client.agreed.path_mtu, 1024U);
  EXPECT_EQ(server.agreed.path_mtu, 1024U);
  EXPECT_EQ(client.keys, of_server);
  EXPECT_EQ(server.keys, of_client);
  EXPECT_EQ(server.figures.messages, 40U);
  EXPECT_EQ(server.figures.average_mib, 13.6015);
}

TEST(PerftestHandshake, TellsBothEndsTheSame) {
  expect_both_hear_the_same<MemoryChannel>();
}

TEST(PerftestHandshake, TellsBothEndsTheSameInMessages) {
  expect_both_hear_the_same<MessageChannel>();
}

live::Task<> tell_keys(PerftestChannel& channel, const PerftestKeys& own, PerftestKeys& theirs) {
  theirs = co_await exchange_keys(channel, PerftestRole::server, own);
}

TEST(PerftestHandshake, AnswersBinaryKeysInTheSizeOfTheClient) {
  const PerftestKeys own{.qpn = Qpn{8}, .psn = Psn{9}, .address = 10};
  const PerftestKeys of_client{.qpn = Qpn{5}, .psn = Psn{6}, .address = 7};
  for (const std::size_t size : {PerftestKeys::kBinarySize, PerftestKeys::kLongBinarySize}) {
    MessageChannel channel;
    channel.received = {to_binary(of_client, size)};
    PerftestKeys theirs;
    live::Script script{tell_keys(channel, own, theirs)};
    script.step(kStart);
    ASSERT_TRUE(script.is_over());
    EXPECT_EQ(script.error(), "");
    EXPECT_EQ(theirs, of_client);
    EXPECT_EQ(channel.sent, std::deque<std::string>{to_binary(own, size)});
  }
}

live::Task<> agree(PerftestChannel& channel, PerftestAgreement& agreed) {
  agreed = co_await exchange_agreement(channel, PerftestRole::server, 4096);
}

// The bytes that an ib_send_bw 6.06 (Debian 12) sent as the client of another.
TEST(PerftestHandshake, UnderstandsARealClientAndAnswersAlike) {
  MemoryChannel channel;
  channel.received = std::string{"6.06\0\0\0\0\0\0\0\0\0\0\0\0", 16} + std::string{"\0\0\x10\0", 4} +
                     std::string{"\0\0\0\x40", 4} + std::string{"3\0", 2};
  PerftestAgreement agreed;
  live::Script script{agree(channel, agreed)};
  script.step(kStart);
  ASSERT_TRUE(script.is_over());
  EXPECT_EQ(script.error(), "");
  EXPECT_EQ(agreed.version, "6.06");
  EXPECT_EQ(agreed.cycle_buffer, 4096U);
  EXPECT_EQ(agreed.cache_line, 64U);
  EXPECT_EQ(agreed.path_mtu, 1024U);
  EXPECT_EQ(channel.sent, (std::string{"6.20\0\0\0\0\0\0\0\0\0\0\0\0", 16} + std::string{"\0\0\x10\0", 4} +
                           std::string{"\0\0\0\x40", 4} + std::string{"5\0", 2}));
}

std::string error_of(std::string received, bool closed = true) {
  MemoryChannel channel;
  channel.received = std::move(received);
  channel.closed = closed;
  PerftestAgreement agreed;
  live::Script script{agree(channel, agreed)};
  script.step(kStart);
  EXPECT_TRUE(script.is_over());
  return script.error();
}

TEST(PerftestHandshake, SaysWhatItExpectedAndWhatCame) {
  const std::string version{"6.06\0\0\0\0\0\0\0\0\0\0\0\0", 16};
  EXPECT_THAT(error_of("GET / HTTP/1.1\r\nHost: x\r\n"),
              HasSubstr("expected the version of a perftest program, 16 bytes such as \"6.06\" and NULs, got \"GET / "
                        "HTTP/1.1..\""));
  EXPECT_THAT(error_of(""), HasSubstr("expected the version of a perftest program (16 bytes), but the peer closed"));
  EXPECT_THAT(error_of("6.0"), HasSubstr("closed the connection after 3 of 16 bytes, \"6.0\""));
  EXPECT_THAT(error_of(std::string(16, '\0')), HasSubstr("expected the version"));
  for (const char* text : {"6.6", "6.066", "66", ".06", "6.", "-6.06", "6.0x", "1000.06"}) {
    std::string wrong{text};
    wrong.resize(16);
    EXPECT_THAT(error_of(wrong), HasSubstr("expected the version")) << text;
  }
  EXPECT_THAT(error_of(std::string{"5.32\0\0\0\0\0\0\0\0\0\0\0\0", 16}), HasSubstr("before 5.33"));
  EXPECT_THAT(error_of(version + std::string(4, '\0')), HasSubstr("expected the size of the cycle buffer, 1 to"));
  EXPECT_THAT(error_of(version + std::string(4, '\xFF')), HasSubstr("got 4294967295"));
  const std::string numbers = version + std::string{"\0\0\x10\0\0\0\0\x40", 8};
  EXPECT_THAT(error_of(numbers + "0" + '\0'), HasSubstr("expected the path MTU"));
  EXPECT_THAT(error_of(numbers + "6" + '\0'), HasSubstr("expected the path MTU"));
  EXPECT_THAT(error_of(numbers + "33"), HasSubstr("got \"33\""));
}

TEST(PerftestHandshake, WantsMessagesOfTheRightSize) {
  MessageChannel channel;
  channel.received = {"6.06"};
  PerftestAgreement agreed;
  live::Script script{agree(channel, agreed)};
  script.step(kStart);
  EXPECT_EQ(script.error(), "expected the version of a perftest program (16 bytes), got 4 bytes, \"6.06\"");
  channel.received = {std::string(57, '\0')};
  PerftestKeys theirs;
  live::Script keys{tell_keys(channel, {}, theirs)};
  keys.step(kStart);
  EXPECT_THAT(keys.error(), HasSubstr("binary form, but the message has 57 bytes, not 56 or 64"));
}

TEST(PerftestHandshake, WaitsTenSecondsForASilentPeer) {
  MemoryChannel channel;
  channel.received = "6.";
  PerftestAgreement agreed;
  live::Script script{agree(channel, agreed)};
  script.step(kStart);
  EXPECT_EQ(script.next_timeout(), kStart + seconds{10});
  script.step(kStart + seconds{10} - milliseconds{1});
  EXPECT_FALSE(script.is_over());
  script.step(kStart + seconds{10});
  EXPECT_TRUE(script.is_over());
  EXPECT_THAT(script.error(), HasSubstr("nothing more came for 10 s after 2 of 16 bytes, \"6.\""));
}

live::Task<> hear_keys(PerftestChannel& channel, PerftestKeys& keys) {
  const PerftestKeys own;
  keys = co_await exchange_keys(channel, PerftestRole::client, own);
}

TEST(PerftestHandshake, SaysWhatIsWrongWithKeys) {
  MemoryChannel channel;
  // The message of an InfiniBand port has no GID.
  channel.received = "0001:0001:000014:8a8618:00000000:0000556fb3743000:00000000" + std::string(50, '\0');
  PerftestKeys keys;
  live::Script script{hear_keys(channel, keys)};
  script.step(kStart);
  EXPECT_THAT(script.error(), HasSubstr("has no GID octet of 2 hexadecimal digits and a colon at byte 50"));
}

}  // namespace
}  // namespace roce::gen
