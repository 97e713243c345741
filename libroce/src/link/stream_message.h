// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

// The format of docs/stream-link.md: bytes and messages, no I/O.
namespace roce::link::detail {

enum class StreamType : std::uint8_t { hello = 1, frame = 2, time = 3, next = 4, wake = 5, error = 6 };

struct StreamMessage {
  StreamType type;
  std::span<const std::byte> body;  ///< the bytes behind the type
  std::size_t size;                 ///< bytes of the whole message, the length field included
};

struct StreamHello {
  std::uint16_t version;
  bool has_virtual_time;
  std::uint32_t max_bytes;  ///< longest frame that its sender takes
};

/// An error is what is wrong with a message, put as what its sender did: `sent …; advice`.
template <typename T>
using StreamResult = tl::expected<T, std::string>;

/// Returns the message at the beginning of `bytes`, if it is whole; `max_frame` is the longest frame that is taken. The
/// bodies of times and of frames have a right size. Errors: a length or a type that no message has.
[[nodiscard]] StreamResult<std::optional<StreamMessage>> first_message(std::span<const std::byte> bytes,
                                                                       std::size_t max_frame);
/// Reads a hello. Errors: the message is not a hello, has another version, or allows only too short frames.
[[nodiscard]] StreamResult<StreamHello> read_hello(const StreamMessage& message);
/// Returns the number of a time or next; the body must have the size of a number.
[[nodiscard]] std::uint64_t read_number(const StreamMessage& message);
[[nodiscard]] std::string read_text(const StreamMessage& message);

void append_hello(std::vector<std::byte>& to, const StreamHello& hello);
void append_frame(std::vector<std::byte>& to, std::span<const std::byte> frame);
/// Appends a message with a number; `type` is time or next.
void append_number(std::vector<std::byte>& to, StreamType type, std::uint64_t number);
void append_wake(std::vector<std::byte>& to);
void append_error(std::vector<std::byte>& to, std::string_view text);

}  // namespace roce::link::detail
