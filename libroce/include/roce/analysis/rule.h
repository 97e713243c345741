// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace roce::analysis {

/// The rules of docs/rules.md by which the analysis judges both ends.
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
  // About the end that answers congestion marks, and the end that is paused.
  cnp_interval,
  pause,
  count,
};

/// The end of a connection that has to keep a rule.
enum class RuleParty : std::uint8_t { either, requester, responder };

[[nodiscard]] std::string_view to_string(RuleParty party);

/// The description of a rule, for all lists of rules.
struct RuleInfo {
  Rule rule{};
  std::string_view identifier;  ///< e.g. `RC-RESP-02`, as in docs/rules.md, JSON and filters; empty for `Rule::none`
  RuleParty party{};            ///< the end that keeps it, or breaks it
  std::string_view text;        ///< how the rule is broken: a sentence without its full stop
};

[[nodiscard]] const RuleInfo& rule_info(Rule rule);
/// Returns all rules except `Rule::none`.
[[nodiscard]] std::span<const RuleInfo> rule_infos();
[[nodiscard]] std::optional<Rule> rule_from_identifier(std::string_view identifier);

}  // namespace roce::analysis
