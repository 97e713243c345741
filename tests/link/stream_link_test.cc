// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/stream_link.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <limits>
#include <thread>
#include <utility>

#include "link_tools.h"

namespace roce::link::test {
namespace {

using std::chrono::nanoseconds;
using ::testing::HasSubstr;

Bytes bytes_of(std::initializer_list<unsigned> octets) {
  Bytes result;
  for (const unsigned octet : octets) result.push_back(static_cast<std::byte>(octet));
  return result;
}

Bytes number(std::uint64_t value, std::size_t size) {
  Bytes result;
  for (std::size_t i = size; i-- > 0;) result.push_back(static_cast<std::byte>(value >> (8 * i)));
  return result;
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// Returns a message as docs/stream-link.md describes it, written without the link's own code.
Bytes message(unsigned type, const Bytes& body) {
  return number(1 + body.size(), 4) + number(type, 1) + body;
}
Bytes hello(unsigned version = 1, unsigned flags = 0, unsigned longest = 9018) {
  return message(1, bytes_of({'R', 'o', 'C', 'E'}) + number(version, 2) + number(flags, 2) + number(longest, 4));
}
Bytes frame_of(const Bytes& frame) {
  return message(2, frame);
}
Bytes time_of(std::uint64_t ns) {
  return message(3, number(ns, 8));
}
Bytes next_of(std::uint64_t ns) {
  return message(4, number(ns, 8));
}
constexpr unsigned kVirtual = 1;

/// The other end of a link, controlled byte by byte.
class OtherEnd {
 public:
  OtherEnd() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) ADD_FAILURE() << "no socket pair";
    ours_ = ends[0];
    theirs_ = ends[1];
    const timeval limit{20, 0};
    (void)::setsockopt(ours_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~OtherEnd() { close(); }
  OtherEnd(const OtherEnd&) = delete;
  OtherEnd& operator=(const OtherEnd&) = delete;

  void write(const Bytes& bytes) const {
    EXPECT_EQ(::send(ours_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] Bytes read(std::size_t size) const {
    Bytes bytes(size);
    const ssize_t got = ::recv(ours_, bytes.data(), size, MSG_WAITALL);
    bytes.resize(static_cast<std::size_t>(got > 0 ? got : 0));
    return bytes;
  }
  void close() {
    if (ours_ >= 0) ::close(std::exchange(ours_, -1));
  }
  /// Returns the link at the opposite end, after writing `first`.
  [[nodiscard]] LinkResult<std::unique_ptr<StreamLink>> open(const Bytes& first,
                                                             std::chrono::milliseconds limit = std::chrono::seconds{
                                                                 10}) const {
    if (!first.empty()) write(first);
    return StreamLink::open(
        {.receive_fd = theirs_, .send_fd = theirs_, .name = "sim.sock", .max_bytes = 1518, .hello_timeout = limit});
  }
  /// Returns a link that has opened; its hello has been read.
  [[nodiscard]] std::unique_ptr<StreamLink> meet(unsigned flags) const {
    LinkResult<std::unique_ptr<StreamLink>> opened = open(hello(1, flags));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    EXPECT_EQ(read(17), hello(1, 0, 1518));
    return opened ? std::move(*opened) : nullptr;
  }

 private:
  int ours_ = -1;
  int theirs_ = -1;
};

/// Returns the error of the first `receive` that fails.
std::string error_of(StreamLink& link) {
  std::array<RxFrame, 8> frames;
  while (readable(link, 2000)) {
    if (const auto got = link.receive(frames); !got) return got.error().message;
  }
  return "none";
}

std::vector<Bytes> received(StreamLink& link) {
  std::vector<Bytes> result;
  std::array<RxFrame, 3> frames;
  while (true) {
    const auto got = link.receive(frames);
    if (!got) ADD_FAILURE() << got.error().message;
    if (!got || *got == 0) return result;
    for (std::size_t i = 0; i < *got; ++i) result.emplace_back(frames[i].bytes.begin(), frames[i].bytes.end());
  }
}

TEST(StreamLink, SpeaksTheFormat) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  EXPECT_FALSE(link->has_virtual_time());
  EXPECT_EQ(link->max_bytes(), 1518U);
  ASSERT_TRUE(send_one(*link, pattern(60)));
  EXPECT_EQ(other.read(65), frame_of(pattern(60)));
  other.write(frame_of(pattern(14, 1)) + frame_of(pattern(1518, 2)));
  const auto kept = collect(*link, 2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].bytes, pattern(14, 1));
  EXPECT_EQ(kept[1].bytes, pattern(1518, 2));
  EXPECT_EQ(kept[1].frame.wire_length, 1518U);
  EXPECT_GT(kept[1].frame.timestamp_ns, 0);
  EXPECT_EQ(link->counters(), (LinkCounters{2, 14 + 1518, 0, 1, 60, 0}));
}

TEST(StreamLink, TakesMessagesThatComeByteByByte) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  for (const std::byte byte : frame_of(pattern(40)) + frame_of(pattern(50))) {
    other.write({byte});
    ASSERT_TRUE(readable(*link, 2000));
    const std::vector<Bytes> frames = received(*link);
    if (!frames.empty()) {
      EXPECT_THAT(frames[0].size(), ::testing::AnyOf(40, 50));
    }
  }
  EXPECT_EQ(link->counters().received, 2U);
}

TEST(StreamLink, SendsNoLongerFramesThanTheOtherEndTakes) {
  OtherEnd other;
  const auto opened = other.open(hello(1, 0, 600));
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->max_bytes(), 600U);
  ASSERT_TRUE(send_one(**opened, pattern(601)));
  ASSERT_TRUE(send_one(**opened, pattern(600)));
  EXPECT_EQ((*opened)->counters().send_errors, 1U);
  EXPECT_EQ(other.read(17), hello(1, 0, 1518));
  EXPECT_EQ(other.read(605), frame_of(pattern(600)));
}

TEST(StreamLink, JoinsTwoEndsThroughPipes) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto before = open_files();
  {
    std::array<int, 2> there{};
    std::array<int, 2> back{};
    ASSERT_EQ(::pipe2(there.data(), O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(back.data(), O_CLOEXEC), 0);
    LinkResult<std::unique_ptr<StreamLink>> b{nullptr};
    std::thread opens([&] { b = StreamLink::open({.receive_fd = there[0], .send_fd = back[1], .name = "pipes"}); });
    LinkResult<std::unique_ptr<StreamLink>> a =
        StreamLink::open({.receive_fd = back[0], .send_fd = there[1], .name = "pipes"});
    opens.join();
    ASSERT_TRUE(a) << a.error().message;
    ASSERT_TRUE(b) << b.error().message;
    for (Link* from : {(*a).get(), (*b).get()}) {
      Link& to = from == (*a).get() ? **b : **a;
      ASSERT_TRUE(send_one(*from, pattern(9018, 3)));
      const auto kept = collect(to, 1);
      ASSERT_EQ(kept.size(), 1U);
      EXPECT_EQ(kept[0].bytes, pattern(9018, 3));
    }
    a->reset();
    EXPECT_THAT(error_of(**b), HasSubstr("closed it"));
  }
  EXPECT_EQ(open_files(), before);
}

TEST(StreamLink, KeepsWhatTheOtherEndDoesNotReadYet) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  std::size_t sent = 0;
  while (send_one(*link, pattern(1000, static_cast<unsigned>(sent)))) ASSERT_LT(++sent, 100'000U);
  EXPECT_FALSE(readable(*link, 0)) << "nothing came, and there is no room";
  std::atomic<bool> all_came = false;
  std::thread reads([&other, &all_came, sent] {
    for (std::size_t i = 0; i < sent; ++i) {
      ASSERT_EQ(other.read(1005), frame_of(pattern(1000, static_cast<unsigned>(i)))) << i;
    }
    all_came = true;
  });
  // The frames go out whenever the link reports that it wants to be served.
  while (!all_came && !HasFailure()) {
    if (readable(*link, 1)) {
      EXPECT_TRUE(received(*link).empty());
    }
  }
  reads.join();
  EXPECT_TRUE(send_one(*link, pattern(14)));
  EXPECT_EQ(other.read(19), frame_of(pattern(14)));
}

TEST(StreamLink, HasTheTimeOfTheOtherEnd) {
  OtherEnd other;
  const auto link = other.meet(kVirtual);
  ASSERT_TRUE(link);
  EXPECT_TRUE(link->has_virtual_time());
  other.write(frame_of(pattern(20, 1)) + frame_of(pattern(30, 2)));
  ASSERT_TRUE(readable(*link, 2000));
  EXPECT_EQ(link->take_time(), std::nullopt);
  EXPECT_TRUE(received(*link).empty()) << "their time is not known yet";
  other.write(time_of(1000) + frame_of(pattern(40, 3)) + time_of(1000));
  ASSERT_TRUE(readable(*link, 2000));
  EXPECT_FALSE(send_one(*link, pattern(70))) << "it was not asked";
  EXPECT_EQ(link->take_time(), nanoseconds{1000});
  std::array<RxFrame, 8> frames;
  ASSERT_EQ(link->receive(frames), 2U);
  EXPECT_EQ(frames[0].timestamp_ns, 1000);
  EXPECT_TRUE(std::ranges::equal(frames[1].bytes, pattern(30, 2)));
  EXPECT_EQ(link->receive(frames), 0U) << "the third frame is of the next time";
  ASSERT_TRUE(send_one(*link, pattern(50)));
  ASSERT_TRUE(link->tell_next(nanoseconds{1500}));
  EXPECT_FALSE(send_one(*link, pattern(70))) << "it has answered";
  EXPECT_EQ(other.read(55 + 13), frame_of(pattern(50)) + next_of(1500));
  EXPECT_EQ(link->take_time(), nanoseconds{1000});
  EXPECT_EQ(received(*link), std::vector<Bytes>{pattern(40, 3)});
  ASSERT_TRUE(link->tell_next(std::nullopt));
  EXPECT_EQ(other.read(13), next_of(std::numeric_limits<std::uint64_t>::max()));
  ASSERT_TRUE(link->wake());
  EXPECT_EQ(other.read(5), message(5, {}));
}

TEST(StreamLink, IsReadableWhileThereIsMore) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  for (unsigned i = 0; i < 5; ++i) other.write(frame_of(pattern(20, i)));
  std::array<RxFrame, 2> two;
  for (const std::size_t expected : {2U, 2U, 1U}) {
    ASSERT_TRUE(readable(*link, 2000));
    EXPECT_EQ(link->receive(two), expected);
  }
  EXPECT_FALSE(readable(*link, 0));
}

TEST(StreamLink, IsReadableWhileThereIsATimeMore) {
  OtherEnd other;
  const auto link = other.meet(kVirtual);
  ASSERT_TRUE(link);
  other.write(time_of(1) + time_of(2));
  for (const nanoseconds expected : {nanoseconds{1}, nanoseconds{2}}) {
    ASSERT_TRUE(readable(*link, 2000));
    EXPECT_EQ(link->take_time(), expected);
    EXPECT_TRUE(received(*link).empty());
    ASSERT_TRUE(link->tell_next(std::nullopt));
  }
  EXPECT_FALSE(readable(*link, 0));
}

TEST(StreamLink, IsReadableWhenMoreCameWithTheHello) {
  for (const Bytes& more : {frame_of(pattern(20)), Bytes{}}) {
    OtherEnd other;
    const auto opened = other.open(hello(1, kVirtual) + more + time_of(7));
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(readable(**opened, 2000));
    EXPECT_EQ((*opened)->take_time(), nanoseconds{7});
  }
}

TEST(StreamLink, GivesWhatCameWholeBeforeTheEnd) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  const Bytes second = frame_of(pattern(80));
  other.write(frame_of(pattern(60)) + Bytes(second.begin(), second.begin() + 12));
  other.close();
  EXPECT_EQ(collect(*link, 1).size(), 1U);
  EXPECT_EQ(error_of(*link),
            "the other end of the stream link sim.sock closed it in the middle of a message, of which 12 bytes came");
  EXPECT_FALSE(link->send({})) << "it stays so";
}

TEST(StreamLink, SaysThatTheOtherEndClosed) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  other.close();
  EXPECT_TRUE(send_one(*link, pattern(60))) << "lost, as on a wire";
  EXPECT_EQ(error_of(*link), "the other end of the stream link sim.sock closed it");
}

TEST(StreamLink, SaysThatTheOtherEndClosedInTheMiddleOfATime) {
  OtherEnd other;
  const auto link = other.meet(kVirtual);
  ASSERT_TRUE(link);
  const Bytes time = time_of(5);
  other.write(frame_of(pattern(60)) + Bytes(time.begin(), time.begin() + 6));
  other.close();
  const auto taken = link->take_time();
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("of which 6 bytes came"));
}

struct Wrong {
  const char* name;
  Bytes bytes;
  const char* says;
};

class WrongMessages : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongMessages, AreRefusedAndTheOtherEndIsTold) {
  OtherEnd other;
  const auto link = other.meet(0);
  ASSERT_TRUE(link);
  other.write(GetParam().bytes);
  const std::string error = error_of(*link);
  EXPECT_THAT(error, HasSubstr(std::string("the other end of the stream link sim.sock ") + GetParam().says));
  const Bytes head = other.read(5);
  ASSERT_EQ(head.size(), 5U);
  EXPECT_EQ(head[4], std::byte{6});
  std::string told;
  for (const std::byte byte : other.read(std::to_integer<std::size_t>(head[3]) - 1)) told += static_cast<char>(byte);
  EXPECT_THAT(error, HasSubstr(told));
  EXPECT_THAT(told, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    StreamLink, WrongMessages,
    ::testing::Values(Wrong{"Empty", number(0, 4), "sent a message of 0 bytes, 1 to 1519 are possible"},
                      Wrong{"TooLong", number(1 + 1518 + 1, 4), "sent a message of 1520 bytes, 1 to 1519"},
                      Wrong{"FarTooLong", number(0xFFFF'FFFF, 4), "sent a message of 4294967295 bytes"},
                      Wrong{"OfNoType", number(2, 4) + number(7, 1), "sent a message of type 7, version 1 has 1 to 6"},
                      Wrong{"ShortFrame", number(14, 4) + number(2, 1),
                            "sent a message \"frame\" with 13 bytes behind the type, 14 to 1518 are possible"},
                      Wrong{"LongNext", number(10, 4) + number(4, 1),
                            "sent a message \"next\" with 9 bytes behind the type, 8"},
                      Wrong{"TimeWithoutTime", time_of(1), "sent a time, and its hello said that it has none"},
                      Wrong{"Next", next_of(1), "sent a message that is not for it to send"},
                      Wrong{"Wake", message(5, {}), "sent a message that is not for it to send"},
                      Wrong{"LongWake", number(2, 4) + number(5, 1),
                            "sent a message \"wake\" with 1 bytes behind the type, 0 are right"},
                      Wrong{"SecondHello", hello(), "sent a message that is not for it to send"},
                      Wrong{"Error", message(6, bytes_of({'n', 'o', 0x1B})), "says: no?"}),
    [](const auto& one) { return one.param.name; });

class WrongTimes : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongTimes, AreRefused) {
  OtherEnd other;
  const auto link = other.meet(kVirtual);
  ASSERT_TRUE(link);
  other.write(time_of(1000));
  ASSERT_EQ(link->take_time(), nanoseconds{1000});
  other.write(GetParam().bytes);
  const auto time = link->take_time();
  ASSERT_FALSE(time);
  EXPECT_THAT(time.error().message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    StreamLink, WrongTimes,
    ::testing::Values(Wrong{"Back", time_of(999), "sent the time 999 ns after 1000 ns; time does not go back"},
                      Wrong{"TooLate", time_of(std::uint64_t{1} << 63), "time does not go back, and ends at 2^63 ns"},
                      Wrong{"Next", next_of(2000), "sent a message that is not for it to send"},
                      Wrong{"OfNoType", frame_of(pattern(60)) + number(2, 4) + number(0, 1), "of type 0"}),
    [](const auto& one) { return one.param.name; });

class WrongHellos : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongHellos, AreRefused) {
  const auto before = open_files();
  {
    OtherEnd other;
    const auto opened = other.open(GetParam().bytes, std::chrono::milliseconds{50});
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr(GetParam().says));
  }
  EXPECT_EQ(open_files(), before);
}

INSTANTIATE_TEST_SUITE_P(
    StreamLink, WrongHellos,
    ::testing::Values(
        Wrong{"OtherVersion", hello(2), "speaks version 2 of the stream link's format, this is 1; take programs"},
        Wrong{"LongerHelloOfALaterVersion",
              number(30, 4) + number(1, 1) + bytes_of({'R', 'o', 'C', 'E', 0, 3}) + Bytes(23), "speaks version 3"},
        Wrong{"NoHello", frame_of(pattern(60)), "did not begin with a hello"},
        Wrong{"OtherProtocol", bytes_of({'G', 'E', 'T', ' ', '/', ' '}), "sent a message of 1195725856 bytes"},
        Wrong{"OtherMagic", message(1, Bytes(12)), "did not begin with a hello"},
        Wrong{"ShortHello", message(1, bytes_of({'R', 'o', 'C', 'E'})), "\"hello\" with 4 bytes"},
        Wrong{"SmallFrames", hello(1, 0, 511), "takes frames of up to 511 bytes, 512 are needed"},
        Wrong{"Nothing", {}, "did not say hello in 50 ms"}, Wrong{"Half", Bytes(3), "did not say hello in 50 ms"},
        Wrong{"Error", message(6, bytes_of({'n', 'o'})), "says: no"}),
    [](const auto& one) { return one.param.name; });

TEST(StreamLink, SaysThatTheOtherEndClosedInsteadOfAHello) {
  OtherEnd other;
  other.write(Bytes(3));
  other.close();
  const auto opened = other.open({});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("closed it in the middle of a message, of which 3 bytes came"));
}

TEST(StreamLink, WantsAStream) {
  const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto opened = StreamLink::open({.receive_fd = file, .send_fd = file, .name = "/dev/null"});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("neither a connected stream socket nor two pipes"));
}

}  // namespace
}  // namespace roce::link::test
