// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/frame_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "roce/wire/fields.h"
#include "roce/wire/opcode.h"

namespace roce::conform {

namespace {

constexpr std::array<std::string_view, 2> kServices{"RC_", "UC_"};
constexpr std::array<std::string_view, 13> kOthers{"CM_REQ",      "CM_REP",  "CM_RTU", "CM_MRA", "CM_REJ",
                                                   "CM_DREQ",     "CM_DREP", "CM_LAP", "CM_APR", "CM_SIDR_REQ",
                                                   "CM_SIDR_REP", "PFC",     "PAUSE"};
constexpr std::array<std::string_view, 4> kOfPayload{"payload", "payload_length", "network", "network_length"};
constexpr std::array<std::string_view, 5> kOfNetwork{"src", "dst", "ttl", "dscp", "ecn"};

bool is_expression(std::string_view text) {
  return text.find_first_of("$(") != std::string_view::npos;
}

/// Returns the opcodes without their services, those of one service as they are.
std::vector<std::string_view> opcode_names() {
  std::vector<std::string_view> names;
  for (const OpcodeInfo& info : kOpcodeTable) {
    if (!info.defined()) continue;
    if (info.service == Service::rc) names.push_back(std::string_view{info.name}.substr(kServices[0].size()));
    if (info.service == Service::cnp) names.emplace_back(info.name);
  }
  names.insert(names.end(), kOthers.begin(), kOthers.end());
  return names;
}

}  // namespace

Evaluated<void> check_opcode(std::string_view text) {
  if (is_expression(text) || std::ranges::find(kOthers, text) != kOthers.end() || opcode_from_name(text)) return {};
  for (const std::string_view service : kServices) {
    if (opcode_from_name(fmt::format("{}{}", service, text))) return {};
  }
  return tl::unexpected(fmt::format("there is no opcode \"{}\"; there are, also with RC_, UC_, UD_ in front: {}", text,
                                    fmt::join(opcode_names(), ", ")));
}

Evaluated<void> check_field(const std::string& name) {
  if (std::ranges::find(kOfPayload, name) != kOfPayload.end()) return {};
  const std::size_t dot = name.find('.');
  const std::string object = name.substr(0, dot);
  const std::string member = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (object == "network" && std::ranges::find(kOfNetwork, member) != kOfNetwork.end()) return {};
  const HeaderInfo* const header = find_header(object);
  if (header == nullptr) {
    return tl::unexpected(
        fmt::format("there is no field \"{}\"; there are: {}, network.{}, and those of headers, which "
                    "`roce-gen craft --list` prints",
                    name, fmt::join(kOfPayload, ", "), fmt::join(kOfNetwork, ", network.")));
  }
  if (find_field(*header, member) != nullptr) return {};
  std::string names;
  for (const FieldInfo& field : header->fields)
    names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", header->name, field.name);
  return tl::unexpected(fmt::format("there is no field \"{}\"; there are: {}", name, names));
}

}  // namespace roce::conform
