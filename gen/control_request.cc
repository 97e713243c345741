// SPDX-License-Identifier: BSD-2-Clause
#include "gen/control_request.h"

#include <charconv>
#include <iterator>

namespace roce::gen {

std::string text(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end() || !found->is_string()) throw Refusal(fmt::format("\"{}\" is missing or no text", name));
  return found->get<std::string>();
}

bool flag(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end()) return false;
  if (!found->is_boolean()) throw Refusal(fmt::format("\"{}\" is {}, needs true or false", name, found->dump()));
  return found->get<bool>();
}

nlohmann::json list(const nlohmann::json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end()) return nlohmann::json::array();
  if (!found->is_array()) throw Refusal(fmt::format("\"{}\" is {}, needs a list", name, found->dump()));
  return *found;
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string result;
  result.reserve(2 * bytes.size());
  for (const std::byte byte : bytes)
    fmt::format_to(std::back_inserter(result), "{:02x}", std::to_integer<unsigned>(byte));
  return result;
}

std::vector<std::byte> from_hex(std::string_view digits) {
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t value = 0;
    const char* at = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, value, 16);
    if (error != std::errc{} || end != at + 2)
      throw Refusal(fmt::format("\"data\": \"{}\" is no hexadecimal byte", std::string_view{at, 2}));
    bytes[i] = std::byte{value};
  }
  if (digits.size() % 2 != 0) throw Refusal("\"data\" has an odd number of hexadecimal digits");
  return bytes;
}

}  // namespace roce::gen
