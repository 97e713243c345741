// SPDX-License-Identifier: BSD-2-Clause
// Controllers by name: their parameters from text.
#include "roce/congestion/choice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "congestion/choice_values.h"

namespace roce::congestion {

namespace {

using read::Expected;
using read::Text;
using Error = tl::unexpected<std::string>;

constexpr std::uint32_t kMostBurst = 1U << 20;
constexpr std::uint32_t kMostMbit = 10'000'000;
constexpr std::uint32_t kMostUs = 1'000'000;
constexpr std::uint32_t kMostStages = 1000;

template <typename P>
struct Row {
  Text name;
  Expected (*read)(P&, Text);
};

template <typename P>
Expected read_burst(P& p, Text t) {
  return read::number(p.burst_bytes, t, 0, kMostBurst);
}

constexpr std::array kFixedRows{
    Row<FixedParameters>{"rate", [](FixedParameters& p, Text t) { return read::rate(p.rate_bps, t); }},
    Row<FixedParameters>{"burst", read_burst<FixedParameters>},
};

using D = DcqcnParameters;
constexpr std::array kDcqcnRows{
    Row<D>{"g", [](D& p, Text t) { return read::fraction(p.g, t); }},
    Row<D>{"alpha_timer", [](D& p, Text t) { return read::period(p.alpha_timer, t); }},
    Row<D>{"rate_timer", [](D& p, Text t) { return read::period(p.rate_timer, t); }},
    Row<D>{"byte_counter", [](D& p, Text t) { return read::number(p.byte_counter, t, 0, 1ULL << 40U); }},
    Row<D>{"f", [](D& p, Text t) { return read::number(p.f, t, 0, kMostStages); }},
    Row<D>{"ai", [](D& p, Text t) { return read::rate(p.ai_bps, t); }},
    Row<D>{"hai", [](D& p, Text t) { return read::rate(p.hai_bps, t); }},
    Row<D>{"min_rate", [](D& p, Text t) { return read::rate(p.min_rate_bps, t); }},
    Row<D>{"max_rate", [](D& p, Text t) { return read::rate(p.max_rate_bps, t); }},
    Row<D>{"initial_alpha", [](D& p, Text t) { return read::fraction(p.initial_alpha, t); }},
    Row<D>{"burst", read_burst<D>},
    Row<D>{"alpha_before_cut", [](D& p, Text t) { return read::boolean(p.alpha_before_cut, t); }},
    Row<D>{"hyper_from_next", [](D& p, Text t) { return read::boolean(p.hyper_from_next, t); }},
    Row<D>{"hyper_halves_bytes", [](D& p, Text t) { return read::boolean(p.hyper_halves_bytes, t); }},
    Row<D>{"recovers_after_cut", [](D& p, Text t) { return read::boolean(p.recovers_after_cut, t); }},
};

using M = Mlx5Parameters;
constexpr std::array kMlx5Rows{
    Row<M>{"dce_tcp_g", [](M& p, Text t) { return read::number(p.dce_tcp_g, t, 1, 1023); }},
    Row<M>{"dce_tcp_rtt", [](M& p, Text t) { return read::number(p.dce_tcp_rtt, t, 1, kMostUs); }},
    Row<M>{"initial_alpha_value", [](M& p, Text t) { return read::number(p.initial_alpha_value, t, 1, 1023); }},
    Row<M>{"rate_to_set_on_first_cnp",
           [](M& p, Text t) { return read::number(p.rate_to_set_on_first_cnp, t, 0, kMostMbit); }},
    Row<M>{"rate_reduce_monitor_period",
           [](M& p, Text t) { return read::number(p.rate_reduce_monitor_period, t, 0, kMostUs); }},
    Row<M>{"rpg_gd", [](M& p, Text t) { return read::number(p.rpg_gd, t, 0, 15); }},
    Row<M>{"rpg_min_dec_fac", [](M& p, Text t) { return read::number(p.rpg_min_dec_fac, t, 1, 100); }},
    Row<M>{"rpg_min_rate", [](M& p, Text t) { return read::number(p.rpg_min_rate, t, 1, kMostMbit); }},
    Row<M>{"rpg_max_rate", [](M& p, Text t) { return read::number(p.rpg_max_rate, t, 0, kMostMbit); }},
    Row<M>{"rpg_time_reset", [](M& p, Text t) { return read::number(p.rpg_time_reset, t, 1, kMostUs); }},
    Row<M>{"rpg_byte_reset", [](M& p, Text t) { return read::number(p.rpg_byte_reset, t, 0, 32767); }},
    Row<M>{"rpg_threshold", [](M& p, Text t) { return read::number(p.rpg_threshold, t, 1, 31); }},
    Row<M>{"rpg_ai_rate", [](M& p, Text t) { return read::number(p.rpg_ai_rate, t, 1, kMostMbit); }},
    Row<M>{"rpg_hai_rate", [](M& p, Text t) { return read::number(p.rpg_hai_rate, t, 1, kMostMbit); }},
    Row<M>{"clamp_tgt_rate", [](M& p, Text t) { return read::boolean(p.clamp_tgt_rate, t); }},
    Row<M>{"clamp_tgt_rate_after_time_inc",
           [](M& p, Text t) { return read::boolean(p.clamp_tgt_rate_after_time_inc, t); }},
    Row<M>{"min_time_between_cnps",
           [](M& p, Text t) { return read::number(p.min_time_between_cnps.emplace(), t, 0, kMostUs); }},
    Row<M>{"cnp_dscp", [](M& p, Text t) { return read::number(p.cnp_dscp.emplace(), t, 0, 63); }},
    Row<M>{"cnp_802p_prio", [](M& p, Text t) { return read::number(p.cnp_802p_prio.emplace(), t, 0, 7); }},
    Row<M>{"byte_reset_unit", [](M& p, Text t) { return read::number(p.byte_reset_unit, t, 0, 1U << 20U); }},
    Row<M>{"burst", read_burst<M>},
};

using R = RttParameters;
constexpr std::array kRttRows{
    Row<R>{"t_low", [](R& p, Text t) { return read::period(p.t_low, t); }},
    Row<R>{"t_high", [](R& p, Text t) { return read::period(p.t_high, t); }},
    Row<R>{"min_rtt", [](R& p, Text t) { return read::period(p.min_rtt, t); }},
    Row<R>{"ewma", [](R& p, Text t) { return read::fraction(p.ewma, t); }},
    Row<R>{"beta", [](R& p, Text t) { return read::fraction(p.beta, t); }},
    Row<R>{"add", [](R& p, Text t) { return read::rate(p.add_bps, t); }},
    Row<R>{"hai_after", [](R& p, Text t) { return read::number(p.hai_after, t, 1, kMostStages); }},
    Row<R>{"min_rate", [](R& p, Text t) { return read::rate(p.min_rate_bps, t); }},
    Row<R>{"max_rate", [](R& p, Text t) { return read::rate(p.max_rate_bps, t); }},
    Row<R>{"burst", read_burst<R>},
};

/// A parameter as it was written.
struct Setting {
  std::string name;
  Text value;
};

constexpr Text kSpace = " \t\r";

[[nodiscard]] Text trimmed(Text text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == Text::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Splits `name=value`, `name  value` or `path/name:value`.
[[nodiscard]] std::optional<Setting> split(Text piece) {
  const bool is_path = piece.find('/') != Text::npos;
  const std::size_t at = is_path ? piece.rfind(':') : std::min(piece.find('='), piece.find_first_of(kSpace));
  if (at == Text::npos) return std::nullopt;
  Text name = trimmed(piece.substr(0, at));
  if (is_path) name = name.substr(name.rfind('/') + 1);
  Text value = trimmed(piece.substr(at + 1));
  // `name = value`
  if (!is_path && piece[at] != '=' && value.starts_with('=')) value = trimmed(value.substr(1));
  if (name.empty() || value.empty()) return std::nullopt;
  return Setting{std::string{name}, value};
}

/// Returns the name in sysfs of a parameter of a ConnectX, whatever tool printed it.
[[nodiscard]] std::string sysfs_name(std::string name) {
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (name.ends_with("_p1") || name.ends_with("_p2")) name.resize(name.size() - 3);
  if (name == "rp_clamp_tgt_rate_ati") return "clamp_tgt_rate_after_time_inc";
  if (name == "np_cnp_prio" || name == "cnp_prio") return "cnp_802p_prio";
  if (!name.starts_with("rp_") && !name.starts_with("np_")) return name;
  name = name.substr(3);
  const auto is_known = [](const std::string& other) {
    return std::ranges::find(kMlx5Rows, other, &Row<M>::name) != kMlx5Rows.end();
  };
  return is_known(name) ? name : "rpg_" + name;
}

/// Returns the value of `True(1)`, as mlxconfig prints it.
[[nodiscard]] Text plain_value(Text value) {
  return value.ends_with(')') ? value.substr(0, value.find('(')) : value;
}

template <typename P>
[[nodiscard]] std::string names_of(std::span<const Row<P>> rows) {
  std::string list;
  for (const Row<P>& row : rows) list += (list.empty() ? "" : ", ") + std::string{row.name};
  return list;
}

template <typename P>
[[nodiscard]] tl::expected<P, std::string> read_parameters(Text controller, std::span<const Row<P>> rows,
                                                           std::span<const Text> pieces) {
  constexpr bool is_mlx5 = std::is_same_v<P, Mlx5Parameters>;
  P parameters;
  std::vector<Text> seen;
  seen.reserve(pieces.size());
  for (const Text piece : pieces) {
    std::optional<Setting> setting = split(piece);
    if (!setting) return Error(std::string{controller} + ": expected NAME=VALUE, found '" + std::string{piece} + "'");
    if (is_mlx5) *setting = {sysfs_name(setting->name), plain_value(setting->value)};
    const auto row = std::ranges::find(rows, Text{setting->name}, &Row<P>::name);
    if (row == rows.end()) {
      return Error(std::string{controller} + " has no parameter '" + setting->name + "'; it has " + names_of(rows));
    }
    if (std::ranges::find(seen, row->name) != seen.end()) {
      return Error(std::string{controller} + ": " + setting->name + " is there twice" +
                   (is_mlx5 ? "; give it for one port only" : ""));
    }
    seen.push_back(row->name);
    if (const Expected wanted = row->read(parameters, setting->value)) {
      return Error(std::string{controller} + ": " + setting->name + ": expected " + *wanted + ", found '" +
                   std::string{setting->value} + "'");
    }
  }
  return parameters;
}

/// Returns the contradiction in parameters; nothing if there is none.
[[nodiscard]] std::optional<std::string> contradiction(const FixedParameters& p) {
  if (p.rate_bps == 0) return "needs rate, such as rate=2.5Gbit";
  return std::nullopt;
}
template <typename P>
[[nodiscard]] std::optional<std::string> rates_cross(const P& p) {
  if (p.max_rate_bps == 0 || p.min_rate_bps <= p.max_rate_bps) return std::nullopt;
  return "min_rate is above max_rate";
}
[[nodiscard]] std::optional<std::string> contradiction(const DcqcnParameters& p) {
  return rates_cross(p);
}
[[nodiscard]] std::optional<std::string> contradiction(const Mlx5Parameters& p) {
  if (p.rpg_max_rate != 0 && p.rpg_min_rate > p.rpg_max_rate) return "rpg_min_rate is above rpg_max_rate";
  if (p.byte_reset_unit != 0 && p.rpg_byte_reset == 0) return "byte_reset_unit needs rpg_byte_reset above 0";
  return std::nullopt;
}
[[nodiscard]] std::optional<std::string> contradiction(const RttParameters& p) {
  if (p.t_low > p.t_high) return "t_low is above t_high";
  return rates_cross(p);
}

template <typename P, std::size_t N>
[[nodiscard]] tl::expected<Choice, std::string> choose(Text controller, const std::array<Row<P>, N>& rows,
                                                       std::span<const Text> pieces) {
  tl::expected<P, std::string> parameters = read_parameters<P>(controller, rows, pieces);
  if (!parameters) return Error(parameters.error());
  if (const auto wrong = contradiction(*parameters)) return Error(std::string{controller} + ": " + *wrong);
  return Choice{*parameters};
}

constexpr std::array<Text, std::variant_size_v<Choice>> kNames{"none", "fixed", "dcqcn", "dcqcn_mlx5", "rtt"};

}  // namespace

std::string_view name_of(const Choice& choice) {
  return kNames.at(choice.index());
}

tl::expected<Choice, std::string> parse_choice(std::string_view text) {
  const auto is_separator = [](char c) { return c == ',' || c == '\n'; };
  std::vector<Text> pieces;
  pieces.reserve(static_cast<std::size_t>(std::ranges::count_if(text, is_separator)) + 1);
  for (Text rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(",\n"), rest.size());
    if (const Text piece = trimmed(rest.substr(0, end)); !piece.empty()) pieces.push_back(piece);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const Text name = pieces.empty() ? Text{} : pieces.front();
  const std::span<const Text> parameters = std::span{pieces}.subspan(pieces.empty() ? 0 : 1);
  if (name == "fixed") return choose(name, kFixedRows, parameters);
  if (name == "dcqcn") return choose(name, kDcqcnRows, parameters);
  if (name == "dcqcn_mlx5") return choose(name, kMlx5Rows, parameters);
  if (name == "rtt") return choose(name, kRttRows, parameters);
  if (name == "none" && parameters.empty()) return Choice{};
  if (name == "none") return Error("none: has no parameters, found '" + std::string{parameters.front()} + "'");
  return Error("expected none, fixed, dcqcn, dcqcn_mlx5 or rtt, found '" + std::string{name} + "'");
}

}  // namespace roce::congestion
