// SPDX-License-Identifier: BSD-2-Clause
#include "link/stream_message.h"

#include <algorithm>
#include <array>

#include "link/byte_order.h"
#include "roce/link/stream_link.h"

namespace roce::link::detail {

namespace {

constexpr std::size_t kLengthSize = 4;
constexpr std::size_t kTypeSize = 1;
constexpr std::size_t kNumberSize = 8;
constexpr std::size_t kShortestFrame = 14;
/// The longest body of a message that is not a frame, in bytes.
constexpr std::size_t kLongestText = 1024;

constexpr std::string_view kMagic = "RoCE";
constexpr std::size_t kVersionOffset = 4;
constexpr std::size_t kFlagsOffset = 6;
constexpr std::size_t kMaxBytesOffset = 8;
constexpr std::size_t kHelloSize = 12;
constexpr std::uint16_t kVirtualTimeFlag = 1;

constexpr std::string_view kOtherFormat = "does it speak the format of docs/stream-link.md?";

/// Loads a number in network byte order.
template <typename T>
[[nodiscard]] T load_number(std::span<const std::byte> from) {
  return load<T>(from.data(), true);
}

template <typename T>
void append_number(std::vector<std::byte>& to, T number) {
  for (std::size_t byte = sizeof number; byte-- > 0;) to.push_back(static_cast<std::byte>(number >> (8 * byte)));
}

void append_text(std::vector<std::byte>& to, std::string_view text) {
  std::transform(text.begin(), text.end(), std::back_inserter(to), [](char c) { return static_cast<std::byte>(c); });
}

void begin_message(std::vector<std::byte>& to, StreamType type, std::size_t body) {
  append_number(to, static_cast<std::uint32_t>(kTypeSize + body));
  to.push_back(static_cast<std::byte>(type));
}

/// The body sizes that a type may have: the smallest and the largest, in bytes.
struct BodySizes {
  std::string_view name;
  std::size_t smallest;
  std::size_t largest;
};

[[nodiscard]] std::optional<BodySizes> sizes_of(std::byte type, std::size_t max_frame) {
  switch (static_cast<StreamType>(type)) {
    case StreamType::hello:
      return BodySizes{"hello", kHelloSize, kLongestText};
    case StreamType::frame:
      return BodySizes{"frame", kShortestFrame, max_frame};
    case StreamType::time:
      return BodySizes{"time", kNumberSize, kNumberSize};
    case StreamType::next:
      return BodySizes{"next", kNumberSize, kNumberSize};
    case StreamType::wake:
      return BodySizes{"wake", 0, 0};
    case StreamType::error:
      return BodySizes{"error", 0, kLongestText};
  }
  return std::nullopt;
}

}  // namespace

StreamResult<std::optional<StreamMessage>> first_message(std::span<const std::byte> bytes, std::size_t max_frame) {
  if (bytes.size() < kLengthSize) return std::nullopt;
  const std::size_t length = load_number<std::uint32_t>(bytes);
  const std::size_t longest = kTypeSize + std::max(max_frame, kLongestText);
  if (length < kTypeSize || length > longest) {
    return tl::unexpected("sent a message of " + std::to_string(length) + " bytes, 1 to " + std::to_string(longest) +
                          " are possible; " + std::string{kOtherFormat});
  }
  if (bytes.size() < kLengthSize + kTypeSize) return std::nullopt;
  const std::byte type = bytes[kLengthSize];
  const std::optional<BodySizes> sizes = sizes_of(type, max_frame);
  if (!sizes) {
    return tl::unexpected("sent a message of type " + std::to_string(std::to_integer<unsigned>(type)) +
                          ", version 1 has 1 to 6; " + std::string{kOtherFormat});
  }
  const std::size_t body = length - kTypeSize;
  if (body < sizes->smallest || body > sizes->largest) {
    const std::string range = sizes->smallest == sizes->largest ? std::to_string(sizes->smallest) + " are right"
                                                                : std::to_string(sizes->smallest) + " to " +
                                                                      std::to_string(sizes->largest) + " are possible";
    return tl::unexpected("sent a message \"" + std::string{sizes->name} + "\" with " + std::to_string(body) +
                          " bytes behind the type, " + range);
  }
  if (bytes.size() < kLengthSize + length) return std::nullopt;
  return StreamMessage{static_cast<StreamType>(type), bytes.subspan(kLengthSize + kTypeSize, body),
                       kLengthSize + length};
}

StreamResult<StreamHello> read_hello(const StreamMessage& message) {
  if (message.type == StreamType::error) return tl::unexpected("says: " + read_text(message));
  const auto is_magic = [](char expected, std::byte found) { return static_cast<std::byte>(expected) == found; };
  if (message.type != StreamType::hello ||
      !std::equal(kMagic.begin(), kMagic.end(), message.body.begin(), message.body.begin() + kMagic.size(), is_magic)) {
    return tl::unexpected("did not begin with a hello; " + std::string{kOtherFormat});
  }
  const auto version = load_number<std::uint16_t>(message.body.subspan(kVersionOffset));
  if (version != StreamLink::kVersion) {
    return tl::unexpected("speaks version " + std::to_string(version) + " of the stream link's format, this is " +
                          std::to_string(StreamLink::kVersion) + "; take programs that go together");
  }
  StreamHello hello{version, false, load_number<std::uint32_t>(message.body.subspan(kMaxBytesOffset))};
  hello.has_virtual_time = (load_number<std::uint16_t>(message.body.subspan(kFlagsOffset)) & kVirtualTimeFlag) != 0;
  if (hello.max_bytes < StreamLink::kShortestLimit) {
    return tl::unexpected("takes frames of up to " + std::to_string(hello.max_bytes) + " bytes, " +
                          std::to_string(StreamLink::kShortestLimit) + " are needed");
  }
  return hello;
}

std::uint64_t read_number(const StreamMessage& message) {
  return load_number<std::uint64_t>(message.body);
}

std::string read_text(const StreamMessage& message) {
  std::string text;
  // The text goes to a terminal.
  std::transform(message.body.begin(), message.body.end(), std::back_inserter(text), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return c < ' ' || c == 0x7F ? '?' : static_cast<char>(c);
  });
  return text;
}

void append_hello(std::vector<std::byte>& to, const StreamHello& hello) {
  begin_message(to, StreamType::hello, kHelloSize);
  append_text(to, kMagic);
  append_number(to, hello.version);
  append_number(to, hello.has_virtual_time ? kVirtualTimeFlag : std::uint16_t{0});
  append_number(to, hello.max_bytes);
}

void append_frame(std::vector<std::byte>& to, std::span<const std::byte> frame) {
  begin_message(to, StreamType::frame, frame.size());
  to.insert(to.end(), frame.begin(), frame.end());
}

void append_number(std::vector<std::byte>& to, StreamType type, std::uint64_t number) {
  begin_message(to, type, sizeof number);
  append_number(to, number);
}

void append_wake(std::vector<std::byte>& to) {
  begin_message(to, StreamType::wake, 0);
}

void append_error(std::vector<std::byte>& to, std::string_view text) {
  const std::string_view shortened = text.substr(0, kLongestText);
  begin_message(to, StreamType::error, shortened.size());
  append_text(to, shortened);
}

}  // namespace roce::link::detail
