// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command_line/number_text.h"
#include "roce/wire/aeth.h"
#include "roce/wire/mac_control.h"

namespace roce::conform {

namespace {

constexpr std::uint32_t kPsnMask = 0xFF'FFFF;
// A message of more would be built in memory for nothing: what a case needs to see fits in a few packets.
constexpr std::uint64_t kMostBytes = 1U << 20U;

struct Function {
  std::string_view name;
  std::size_t arguments;
};

constexpr std::array kFunctions{Function{"psn", 1},       Function{"ack_timeout", 1}, Function{"rnr_wait", 1},
                                Function{"packets", 1},   Function{"bytes", 2},       Function{"if", 3},
                                Function{"min", 2},       Function{"max", 2},         Function{"part", 3},
                                Function{"pause_time", 1}};

std::string pattern(std::uint64_t seed, std::uint64_t length) {
  std::string text;
  text.reserve(2 * length);
  for (const std::byte byte : bytes_of_seed(seed, length)) {
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

Evaluated<Value> packets_of(std::uint64_t bytes, const Scope& scope) {
  const std::optional<Value> mtu = scope.find("mtu");
  const std::uint64_t* size = mtu ? mtu->as_number() : nullptr;
  if (size == nullptr || *size == 0) return tl::unexpected(std::string{"packets() needs the path MTU, $mtu"});
  return Value::number(packets_for(bytes, *size));
}

Evaluated<Value> pause_time_of(std::uint64_t quanta, const Scope& scope) {
  const std::optional<Value> speed = scope.find("speed");
  const std::uint64_t* bits = speed ? speed->as_number() : nullptr;
  if (bits == nullptr || *bits == 0)
    return tl::unexpected(std::string{"pause_time() needs the speed of the port, $speed"});
  if (quanta > UINT16_MAX) {
    return tl::unexpected(fmt::format("pause_time takes quanta from 0 to {}, found {}", UINT16_MAX, quanta));
  }
  constexpr std::uint64_t ps_per_ns = 1000;
  return Value::number((pause_picoseconds(static_cast<std::uint16_t>(quanta), *bits) + ps_per_ns - 1) / ps_per_ns);
}

std::optional<std::uint64_t> compute(std::string_view name, std::uint64_t a, std::uint64_t b) {
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "/") return a / b;
  if (name == "%") return a % b;
  if (name == "&") return a & b;
  if (name == "|") return a | b;
  if (name == "^") return a ^ b;
  if (name == "<<") return b < 64 ? a << b : 0;
  if (name == ">>") return b < 64 ? a >> b : 0;
  return std::nullopt;
}

bool compare(std::string_view name, std::uint64_t a, std::uint64_t b) {
  if (name == "<") return a < b;
  if (name == ">") return a > b;
  if (name == "<=") return a <= b;
  return a >= b;
}

}  // namespace

std::optional<std::uint64_t> read_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::uint64_t nanoseconds;
  };
  // `s` is the end of the others.
  constexpr std::array units{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000}};
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = command_line::read_number<std::uint32_t>(text.substr(0, text.size() - unit.name.size()));
    if (!number) return std::nullopt;
    return *number * unit.nanoseconds;
  }
  return std::nullopt;
}

std::vector<std::byte> bytes_of_seed(std::uint64_t seed, std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::uint64_t mixed = (seed * 0x9E37'79B9'7F4A'7C15U + i) * 0xBF58'476D'1CE4'E5B9U;
    bytes[i] = static_cast<std::byte>(mixed >> 56U);
  }
  return bytes;
}

Evaluated<void> check_call(std::string_view function, std::size_t arguments) {
  const auto* const known = std::ranges::find(kFunctions, function, &Function::name);
  if (known == kFunctions.end()) {
    std::string names;
    for (const Function& each : kFunctions) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
    return tl::unexpected(fmt::format("there is no function {}; there are: {}", function, names));
  }
  if (known->arguments == arguments) return {};
  return tl::unexpected(fmt::format("{} takes {} argument{}, found {}", function, known->arguments,
                                    known->arguments == 1 ? "" : "s", arguments));
}

/// Returns bytes of hex digits: `arguments` are the digits, the first byte, and how many.
Evaluated<Value> part_of(std::span<const Value> arguments) {
  const std::string digits = to_string(arguments[0]);
  const std::uint64_t* from = arguments[1].as_number();
  const std::uint64_t* length = arguments[2].as_number();
  const std::size_t bytes = digits.size() / 2;
  if (from == nullptr || length == nullptr || *from > bytes || *length > bytes - *from) {
    return tl::unexpected(fmt::format("part: expected bytes of {}, found {} from {} on", bytes, to_string(arguments[2]),
                                      to_string(arguments[1])));
  }
  return Value::word(digits.substr(2 * *from, 2 * *length));
}

Evaluated<Value> apply_function(std::string_view function, std::span<const Value> arguments, const Scope& scope) {
  if (function == "if") return arguments[0].is_true() ? arguments[1] : arguments[2];
  if (function == "part") return part_of(arguments);
  std::array<std::uint64_t, 2> numbers{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::uint64_t* number = arguments[i].as_number();
    if (number == nullptr) {
      return tl::unexpected(fmt::format("{} takes numbers, found {}", function, to_string(arguments[i])));
    }
    numbers.at(i) = *number;
  }
  const auto [a, b] = numbers;
  if (function == "psn") return Value::psn(static_cast<std::uint32_t>(a & kPsnMask));
  if (function == "min") return Value::number(std::min(a, b));
  if (function == "max") return Value::number(std::max(a, b));
  if (function == "packets") return packets_of(a, scope);
  if (function == "pause_time") return pause_time_of(a, scope);
  if (function == "bytes") {
    if (b > kMostBytes) return tl::unexpected(fmt::format("bytes: expected at most {}, found {}", kMostBytes, b));
    return Value::word(pattern(a, b));
  }
  constexpr std::uint64_t codes = 32;
  if (a >= codes) return tl::unexpected(fmt::format("{} takes a code from 0 to 31, found {}", function, a));
  if (function == "ack_timeout") return Value::number(std::uint64_t{4096} << a);
  const auto wait = AethSyndrome::rnr_nak(static_cast<std::uint8_t>(a)).rnr_timer();
  return Value::number(static_cast<std::uint64_t>(std::chrono::nanoseconds{*wait}.count()));
}

Evaluated<Value> apply_operator(std::string_view name, const Value& left, const Value& right) {
  if (name == "and" || name == "or") return Value::number(right.is_true() ? 1 : 0);
  if (name == "==") return Value::number(left == right ? 1 : 0);
  if (name == "!=") return Value::number(left == right ? 0 : 1);
  const std::uint64_t* a = left.as_number();
  const std::uint64_t* b = right.as_number();
  if (a == nullptr || b == nullptr) {
    return tl::unexpected(fmt::format("{} takes numbers, found {}", name, to_string(a == nullptr ? left : right)));
  }
  if ((name == "/" || name == "%") && *b == 0) return tl::unexpected(std::string{"division by 0"});
  const std::optional<std::uint64_t> result = compute(name, *a, *b);
  if (!result) return Value::number(compare(name, *a, *b) ? 1 : 0);
  if (left.is_psn || right.is_psn) return Value::psn(static_cast<std::uint32_t>(*result & kPsnMask));
  return Value::number(*result);
}

}  // namespace roce::conform
