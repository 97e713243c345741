// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/rdma_resource.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "roce/json_input/json_input.h"

namespace roce::analyze {

namespace {

using nlohmann::json;

// A list of 64 MiB has some 350,000 QPs of twelve members.
constexpr json_input::Bounds kBounds{
    .bytes = std::size_t{64} << 20, .depth = 8, .values = std::size_t{5} << 20, .members = 64};

[[nodiscard]] std::optional<Qpn> qpn_of(const json& qp, const char* member) {
  const auto found = qp.find(member);
  if (found == qp.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  if (value > Qpn::kMax) return std::nullopt;
  return Qpn{static_cast<std::uint32_t>(value)};
}

[[nodiscard]] std::string text_of(const json& qp, const char* member) {
  const auto found = qp.find(member);
  return found != qp.end() && found->is_string() ? json_input::shown_text(found->get_ref<const std::string&>())
                                                 : std::string{};
}

[[nodiscard]] std::string name_of(const json& qp) {
  std::string name = text_of(qp, "comm");
  if (const auto pid = qp.find("pid"); pid != qp.end() && pid->is_number_unsigned()) {
    name += fmt::format("{}pid {}", name.empty() ? "" : " ", pid->get<std::uint64_t>());
  }
  const std::string device = text_of(qp, "ifname");
  return name.empty() || device.empty() ? name + device : name + ' ' + device;
}

}  // namespace

tl::expected<void, std::string> suggest_from_rdma_resource(std::string_view text, const std::string& source,
                                                           const Gid& host, Names& names) {
  constexpr std::string_view expected = "a list of QPs as `rdma -j resource show qp` writes it";
  const auto list = json_input::parse<json>(text, kBounds);
  if (!list) {
    return tl::unexpected(
        fmt::format("{}: byte {}: not {}: {}", source, list.error().byte, expected, list.error().what));
  }
  if (!list->is_array()) {
    return tl::unexpected(fmt::format("{}: expected {}, found {}", source, expected, json_input::shown_value(*list)));
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json& qp = (*list)[i];
    const auto own = qp.is_object() ? qpn_of(qp, "lqpn") : std::nullopt;
    if (!own) {
      return tl::unexpected(fmt::format("{}: entry {}: not {}: expected an object with a number 'lqpn', found {}",
                                        source, i + 1, expected, json_input::shown_value(qp)));
    }
    const std::string name = name_of(qp);
    if (!name.empty()) names.suggest(host, *own, name);
  }
  return {};
}

}  // namespace roce::analyze
