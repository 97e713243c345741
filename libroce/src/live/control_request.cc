// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_request.h"

namespace roce::live {

namespace {

/// Returns the value of a hexadecimal digit; negative for any other character.
[[nodiscard]] constexpr int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

std::string text(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end() || !found->is_string()) throw Refusal(fmt::format("\"{}\" is missing or no text", name));
  return found->get<std::string>();
}

bool flag(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end()) return false;
  if (!found->is_boolean())
    throw Refusal(fmt::format("\"{}\" is {}, needs true or false", name, json_input::shown_value(*found)));
  return found->get<bool>();
}

nlohmann::json list(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end()) return nlohmann::json::array();
  if (!found->is_array())
    throw Refusal(fmt::format("\"{}\" is {}, needs a list", name, json_input::shown_value(*found)));
  return *found;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result(2 * bytes.size(), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    result[2 * i] = kDigits[value >> 4U];
    result[2 * i + 1] = kDigits[value & 15U];
  }
  return result;
}

std::vector<std::byte> from_hex(std::string_view digits) {
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit_value(digits[2 * i]);
    const int low = digit_value(digits[2 * i + 1]);
    if (high < 0 || low < 0) {
      throw Refusal(
          fmt::format("\"data\": \"{}\" is no hexadecimal byte", json_input::shown_text(digits.substr(2 * i, 2))));
    }
    bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  if (digits.size() % 2 != 0) throw Refusal("\"data\" has an odd number of hexadecimal digits");
  return bytes;
}

}  // namespace roce::live
