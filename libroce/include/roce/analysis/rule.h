// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace roce::analysis {

/// The rules of docs/rules.md that the analysis judges both ends by.
enum class Rule : std::uint8_t {
  none,
  // About any packet.
  transport_version,
  padding,
  // About a requester.
  request_payload,
  request_order,
  write_length,
  // About a responder.
  one_nak_per_gap,
  current_msn,
  answer_order,
  answer_length,
  // About who answers congestion marks, and who is paused.
  cnp_interval,
  pause,
  count,
};

/// Which end of a connection has to keep a rule.
enum class RuleParty : std::uint8_t { either, requester, responder };

[[nodiscard]] std::string_view to_string(RuleParty party);

/// What a rule is, for all lists of them.
struct RuleInfo {
  Rule rule{};
  std::string_view identifier;  ///< `RC-RESP-02`: as in docs/rules.md, JSON and filters; empty of `Rule::none`
  RuleParty party{};            ///< who keeps it, or breaks it
  std::string_view text;        ///< how it is broken: a sentence without its full stop
};

[[nodiscard]] const RuleInfo& rule_info(Rule rule);
/// All rules, `Rule::none` not among them.
[[nodiscard]] std::span<const RuleInfo> rule_infos();
[[nodiscard]] std::optional<Rule> rule_from_identifier(std::string_view identifier);

}  // namespace roce::analysis
