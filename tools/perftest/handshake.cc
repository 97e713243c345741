// SPDX-License-Identifier: BSD-2-Clause
#include "perftest/handshake.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

namespace roce {

namespace {

constexpr std::size_t kVersionSize = 16;
/// From 6.28 on, a peer would expect a structure of its own libibverbs from us; before 5.33 the messages differ.
constexpr std::string_view kVersion = "6.20";
constexpr unsigned kOldest = 533;
/// Limits of the peer's values, because both ends allocate the larger ones.
constexpr std::uint32_t kMaxCycleBuffer = 1U << 20;
constexpr std::uint32_t kMaxCacheLine = 4096;
constexpr std::uint32_t kSmallestMtu = 128;  // 2^0 times this; an MTU is sent as the exponent
constexpr char kLargestMtuDigit = '5';

/// Exchanges one message each way; returns the peer's.
[[nodiscard]] live::Task<std::string> exchange(PerftestChannel& channel, PerftestRole role, const std::string& own,
                                               std::string_view what) {
  if (role == PerftestRole::client) channel.send(own);
  std::string theirs = co_await channel.receive(own.size(), what);
  if (theirs.size() != own.size()) {
    throw live::ScriptFailure(fmt::format("expected {}, got {} bytes, {}", what, theirs.size(), quote(theirs)));
  }
  if (role == PerftestRole::server) channel.send(own);
  co_return theirs;
}

[[nodiscard]] std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[bytes - 1 - i] = static_cast<char>(value >> (8 * i));
  return text;
}

[[nodiscard]] std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// Parses a version into 100 times its number, so that 6.06 is 606; nullopt if it is not a version.
[[nodiscard]] std::optional<unsigned> parse_version(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  if (text.find_first_not_of('\0', end) != std::string_view::npos) return std::nullopt;
  text = text.substr(0, end);
  unsigned major = 0;
  unsigned minor = 0;
  const char* const last = text.data() + text.size();
  const auto dot = std::from_chars(text.data(), last, major);
  if (dot.ec != std::errc{} || dot.ptr + 3 != last || *dot.ptr != '.' || major > 99) return std::nullopt;
  const auto rest = std::from_chars(dot.ptr + 1, last, minor);
  if (rest.ec != std::errc{} || rest.ptr != last) return std::nullopt;
  return major * 100 + minor;
}

[[nodiscard]] live::Task<std::string> exchange_version(PerftestChannel& channel, PerftestRole role) {
  std::string own{kVersion};
  own.resize(kVersionSize);
  std::string theirs = co_await exchange(channel, role, own, "the version of a perftest program (16 bytes)");
  const std::optional<unsigned> number = parse_version(theirs);
  if (!number) {
    throw live::ScriptFailure(
        fmt::format("expected the version of a perftest program, 16 bytes such as \"6.06\" and NULs, got {}; is the "
                    "peer another program, or does it not exchange versions?",
                    quote(theirs)));
  }
  theirs.resize(theirs.find('\0'));
  if (*number < kOldest) {
    throw live::ScriptFailure(
        fmt::format("the peer is perftest {}; versions before 5.33 speak another protocol", quote(theirs)));
  }
  co_return theirs;
}

/// Exchanges a number; both ends take the larger of the two.
[[nodiscard]] live::Task<std::uint32_t> exchange_number(PerftestChannel& channel, PerftestRole role, std::uint32_t own,
                                                        std::uint32_t most, std::string_view what) {
  const std::string bytes = big_endian(own, 4);
  const std::string theirs = co_await exchange(channel, role, bytes, what);
  const auto value = static_cast<std::uint32_t>(from_big_endian(theirs));
  if (value == 0 || value > most) {
    throw live::ScriptFailure(fmt::format("expected {}, 1 to {} bytes, got {}", what, most, value));
  }
  co_return std::max(own, value);
}

/// Exchanges the path MTU; both ends take the smaller of the two.
[[nodiscard]] live::Task<std::uint32_t> exchange_mtu(PerftestChannel& channel, PerftestRole role, std::uint32_t own) {
  const auto exponent = static_cast<unsigned>(std::countr_zero(own / kSmallestMtu));
  std::string bytes(2, '\0');
  bytes[0] = static_cast<char>('0' + exponent);
  const std::string theirs = co_await exchange(channel, role, bytes, "the path MTU (2 bytes)");
  if (theirs[0] < '1' || theirs[0] > kLargestMtuDigit || theirs[1] != '\0') {
    throw live::ScriptFailure(
        fmt::format("expected the path MTU, a digit from 1 (256) to 5 (4096) and a NUL, got {}", quote(theirs)));
  }
  co_return std::min(own, kSmallestMtu << (theirs[0] - '0'));
}

[[nodiscard]] live::Task<std::uint64_t> exchange_word(PerftestChannel& channel, PerftestRole role, std::uint64_t own) {
  const std::string bytes = big_endian(own, 8);
  const std::string theirs = co_await exchange(channel, role, bytes, "the peer's results (8 bytes)");
  co_return from_big_endian(theirs);
}

[[nodiscard]] live::Task<double> exchange_double(PerftestChannel& channel, PerftestRole role, double own) {
  const std::uint64_t word = co_await exchange_word(channel, role, std::bit_cast<std::uint64_t>(own));
  co_return std::bit_cast<double>(word);
}

/// A client does not know its server's form; one with the long form reads all that matters from the short one too.
[[nodiscard]] live::Task<PerftestKeys> exchange_binary_keys(PerftestChannel& channel, PerftestRole role,
                                                            const PerftestKeys& own) {
  if (role == PerftestRole::client) channel.send(to_binary(own));
  const std::string theirs =
      co_await channel.receive(PerftestKeys::kBinarySize, "the keys of a queue pair (56 or 64 bytes)");
  const tl::expected<PerftestKeys, std::string> keys = parse_binary_perftest_keys(theirs);
  if (!keys) {
    throw live::ScriptFailure(
        fmt::format("expected the keys of a queue pair in perftest's binary form, but the message {}: {}; give the "
                    "peer the same options as us",
                    keys.error(), quote(theirs)));
  }
  if (role == PerftestRole::server) channel.send(to_binary(own, theirs.size()));
  co_return *keys;
}

}  // namespace

live::Task<PerftestAgreement> exchange_agreement(PerftestChannel& channel, PerftestRole role, std::uint32_t path_mtu) {
  PerftestAgreement agreed;
  agreed.version = co_await exchange_version(channel, role);
  agreed.cycle_buffer =
      co_await exchange_number(channel, role, agreed.cycle_buffer, kMaxCycleBuffer, "the size of the cycle buffer");
  agreed.cache_line =
      co_await exchange_number(channel, role, agreed.cache_line, kMaxCacheLine, "the size of a cache line");
  agreed.path_mtu = co_await exchange_mtu(channel, role, path_mtu);
  co_return agreed;
}

live::Task<PerftestKeys> exchange_keys(PerftestChannel& channel, PerftestRole role, const PerftestKeys& own) {
  if (channel.has_binary_keys()) co_return co_await exchange_binary_keys(channel, role, own);
  const std::string text = to_text(own);
  const std::string theirs = co_await exchange(channel, role, text, "the keys of a queue pair (108 bytes)");
  const tl::expected<PerftestKeys, std::string> keys = parse_perftest_keys(theirs);
  if (!keys) {
    throw live::ScriptFailure(fmt::format(
        "expected the keys of a queue pair in perftest's text form, but the message {}: {}; give the peer the same "
        "options as us",
        keys.error(), quote(theirs)));
  }
  co_return *keys;
}

live::Task<PerftestFigures> exchange_figures(PerftestChannel& channel, PerftestRole role, const PerftestFigures& own) {
  PerftestFigures theirs;
  theirs.size = co_await exchange_word(channel, role, own.size);
  theirs.messages = co_await exchange_word(channel, role, own.messages);
  theirs.peak_mib = co_await exchange_double(channel, role, own.peak_mib);
  theirs.average_mib = co_await exchange_double(channel, role, own.average_mib);
  theirs.mega_messages = co_await exchange_double(channel, role, own.mega_messages);
  co_return theirs;
}

}  // namespace roce
