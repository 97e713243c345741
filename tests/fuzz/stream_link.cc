// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "input.h"
#include "link/stream_message.h"
#include "roce/link/stream_link.h"

// The input is the behaviour of the other end of a stream link: raw bytes, whole messages, parts of messages, changed
// messages; and the calls that our end gets meanwhile. Both halves of the format are tested: the link reads what the
// input writes, and what the link writes has to parse as messages again. Required: a frame comes out once, unchanged
// and in order; with virtual time nothing comes out before its time was taken; time does not go back; after an error
// there is nothing but that error; and the link sends only the format, whatever it received.

namespace {

using namespace roce;
using roce::test::Input;
using namespace roce::link;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr std::size_t kLimit = 600;

/// File descriptors of our end and of the other; with a socket, both descriptors of an end are the same.
struct Wire {
  explicit Wire(bool is_socket) {
    std::array<int, 2> there{};
    std::array<int, 2> back{};
    if (is_socket) {
      check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, there.data()) == 0);
      our_in = our_out = there[0];
      their_in = their_out = there[1];
    } else {
      check(::pipe2(there.data(), O_NONBLOCK) == 0 && ::pipe2(back.data(), O_NONBLOCK) == 0);
      our_in = there[0];
      their_out = there[1];
      their_in = back[0];
      our_out = back[1];
    }
  }
  ~Wire() { close_theirs(); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  void close_theirs() {
    if (their_out >= 0) ::close(their_out);
    if (their_in >= 0 && their_in != their_out) ::close(their_in);
    their_in = their_out = -1;
  }

  int our_in = -1;
  int our_out = -1;
  int their_in = -1;
  int their_out = -1;
};

/// The other end: it knows what it wrote, and so what the link has to give.
class OtherEnd {
 public:
  OtherEnd(Wire& wire, bool has_virtual_time) : wire_(wire), has_virtual_time_(has_virtual_time) {}

  void write(Bytes bytes) {
    if (wire_.their_out < 0) return;
    // Small enough for the kernel's buffer, so that no write has to wait.
    constexpr std::size_t most = 32 << 10;
    if (written_ + bytes.size() > most) return;
    written_ += bytes.size();
    stream_.insert(stream_.end(), bytes.begin(), bytes.end());
    check(::write(wire_.their_out, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  /// Returns the next frame that has to come out of the link; none if there is no other in what was written so far.
  [[nodiscard]] std::optional<Bytes> next_frame() {
    while (true) {
      const auto message = detail::first_message(Bytes{stream_}.subspan(read_), kLimit);
      if (!message || !*message) return std::nullopt;
      read_ += (*message)->size;
      if ((*message)->type == detail::StreamType::frame) return (*message)->body;
    }
  }
  /// Checks that the bytes from the link are the format: hello first, then what an endpoint may send.
  void read_link() {
    if (wire_.their_in < 0) return;
    std::array<std::byte, 4096> some;
    while (true) {
      const ssize_t got = ::read(wire_.their_in, some.data(), some.size());
      if (got <= 0) break;
      from_link_.insert(from_link_.end(), some.begin(), some.begin() + got);
    }
    while (true) {
      const auto message = detail::first_message(Bytes{from_link_}.subspan(checked_), StreamLink::kLongestLimit);
      check(message.has_value());
      if (!*message) return;
      const detail::StreamType type = (*message)->type;
      check((checked_ == 0) == (type == detail::StreamType::hello) || type == detail::StreamType::error);
      check(type != detail::StreamType::time);
      if (type == detail::StreamType::frame) ++frames_;
      checked_ += (*message)->size;
    }
  }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  [[nodiscard]] bool has_virtual_time() const { return has_virtual_time_; }

 private:
  Wire& wire_;
  bool has_virtual_time_;
  std::size_t written_ = 0;
  std::vector<std::byte> stream_;
  std::size_t read_ = 0;
  std::vector<std::byte> from_link_;
  std::size_t checked_ = 0;
  std::uint64_t frames_ = 0;
};

/// Returns a whole message that the input describes.
std::vector<std::byte> message_of(Input& input) {
  std::vector<std::byte> bytes;
  const std::uint8_t kind = input.byte();
  switch (kind % 8) {
    case 0:
    case 1:
    case 2: {
      std::vector<std::byte> frame(14 + input.word() % (kLimit - 14), std::byte{kind});
      const Bytes head = input.take(4);
      std::copy(head.begin(), head.end(), frame.begin());
      detail::append_frame(bytes, frame);
      break;
    }
    case 3:
    case 4:
      detail::append_number(bytes, detail::StreamType::time, std::uint64_t{input.word()} << (kind >> 3U));
      break;
    case 5:
      detail::append_number(bytes, detail::StreamType::next, input.word());
      break;
    case 6:
      detail::append_wake(bytes);
      break;
    default:
      if (kind > 0xE0) {
        detail::append_error(bytes, "it had enough");
      } else {
        detail::append_hello(bytes, {StreamLink::kVersion, (kind & 8U) != 0, input.word()});
      }
      break;
  }
  return bytes;
}

class OurEnd {
 public:
  OurEnd(StreamLink& link, OtherEnd& other) : link_(link), other_(other) {}

  void receive() {
    std::array<RxFrame, 4> frames{};
    const auto count = link_.receive(frames);
    if (!failed(count.has_value())) return;
    check(!other_.has_virtual_time() || has_time_ || *count == 0);
    for (const RxFrame& frame : std::span{frames}.first(*count)) {
      const std::optional<Bytes> expected = other_.next_frame();
      check(expected && std::equal(expected->begin(), expected->end(), frame.bytes.begin(), frame.bytes.end()));
      ++received_;
    }
    check(link_.counters().received == received_);
  }
  void send(Input& input) {
    const std::vector<std::byte> bytes(14 + input.byte() * std::size_t{3}, std::byte{7});
    const std::array<TxFrame, 2> frames{TxFrame{bytes, {}}, TxFrame{bytes, {}}};
    const auto taken = link_.send(frames);
    if (!failed(taken.has_value())) return;
    check(asked_ || !other_.has_virtual_time() || *taken == 0);
  }
  void take_time() {
    // Only if the other end has virtual time, and not before the last time was answered.
    if (!other_.has_virtual_time() || asked_) return;
    const auto time = link_.take_time();
    if (!failed(time.has_value())) return;
    if (!*time) return;
    check(**time >= time_);
    time_ = **time;
    asked_ = has_time_ = true;
  }
  void answer_time(Input& input) {
    if (!asked_) return;
    const std::uint32_t next = input.word();
    const auto told = link_.tell_next(next == 0 ? std::nullopt : std::optional{time_ + std::chrono::nanoseconds{next}});
    if (failed(told.has_value())) asked_ = false;
  }
  void wake() { failed(link_.wake().has_value()); }

 private:
  /// Returns whether a call succeeded, and checks that none does after one has failed.
  bool failed(bool went_well) {
    check(!(has_failed_ && went_well));
    has_failed_ = !went_well;
    return went_well;
  }

  StreamLink& link_;
  OtherEnd& other_;
  bool has_failed_ = false;
  bool asked_ = false;
  bool has_time_ = false;
  std::uint64_t received_ = 0;
  std::chrono::nanoseconds time_{0};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  // Ignored, as in every program that writes to a pipe.
  static const auto before = std::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(before);
  Input input{Bytes{reinterpret_cast<const std::byte*>(data), size}};
  const std::uint8_t shape = input.byte();
  const bool is_socket = (shape & 1U) != 0;
  const bool has_virtual_time = (shape & 2U) != 0;
  Wire wire{is_socket};
  OtherEnd other{wire, has_virtual_time};
  if ((shape & 4U) != 0) {
    // Bytes instead of a hello, after which nothing more comes.
    const Bytes said = input.take(64);
    check(::write(wire.their_out, said.data(), said.size()) == static_cast<ssize_t>(said.size()));
    if (is_socket) {
      ::shutdown(wire.their_out, SHUT_WR);
    } else {
      ::close(std::exchange(wire.their_out, -1));
    }
    // The bytes may happen to be a valid hello.
    const auto link = StreamLink::open({.receive_fd = wire.our_in,
                                        .send_fd = wire.our_out,
                                        .name = "fuzz",
                                        .max_bytes = kLimit,
                                        .hello_timeout = std::chrono::milliseconds{0}});
    if (!link) check(link.error().message.find("fuzz") != std::string::npos);
    return 0;
  }
  std::vector<std::byte> hello;
  detail::append_hello(hello, {StreamLink::kVersion, has_virtual_time, 1500});
  check(::write(wire.their_out, hello.data(), hello.size()) == static_cast<ssize_t>(hello.size()));
  const auto link = StreamLink::open(
      {.receive_fd = wire.our_in, .send_fd = wire.our_out, .name = "fuzz", .max_bytes = kLimit, .hello_timeout = {}});
  check(link.has_value());
  check((*link)->has_virtual_time() == has_virtual_time && (*link)->max_bytes() == kLimit);
  OurEnd ours{**link, other};
  while (!input.empty()) {
    const std::uint8_t step = input.byte();
    switch (step % 10) {
      case 0:
      case 1:
        other.write(message_of(input));
        break;
      case 2: {
        // A message in two pieces, with our turn between them, or only its first piece.
        const std::vector<std::byte> bytes = message_of(input);
        const std::size_t cut = input.byte() % bytes.size();
        other.write(Bytes{bytes}.first(cut));
        ours.receive();
        ours.take_time();
        if (step < 0xF0) other.write(Bytes{bytes}.subspan(cut));
        break;
      }
      case 3: {
        std::vector<std::byte> bytes = message_of(input);
        bytes[input.byte() % std::min<std::size_t>(bytes.size(), 16)] = static_cast<std::byte>(input.byte());
        other.write(bytes);
        break;
      }
      case 4:
        other.write(input.take(input.byte()));
        break;
      case 5:
        ours.receive();
        break;
      case 6:
        ours.send(input);
        break;
      case 7:
        ours.take_time();
        break;
      case 8:
        ours.answer_time(input);
        break;
      default:
        if (step > 0xF0) {
          wire.close_theirs();
        } else {
          ours.wake();
        }
        break;
    }
    other.read_link();
  }
  for (int i = 0; i < 4; ++i) {
    ours.take_time();
    ours.receive();
    ours.answer_time(input);
    other.read_link();
  }
  check(wire.their_in < 0 || other.frames() <= (*link)->counters().sent);
  return 0;
}
