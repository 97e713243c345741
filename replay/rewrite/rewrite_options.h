// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/rules/rewrite_rules.h"
#include "roce/impair/rule.h"

namespace roce::command_line {
class Command;
}

namespace roce::replay {

/// The options of a command that make `RewriteRules`, as text.
struct RewriteOptions {
  std::vector<std::string> ip_maps{};
  std::vector<std::string> mac_maps{};
  std::string source_mac{};
  std::string destination_mac{};
  std::string add_vlan{};
  std::vector<std::string> vlan_maps{};
  std::optional<std::uint32_t> pcp{};
  std::optional<std::uint32_t> dscp{};
  std::optional<std::uint32_t> ecn{};
  std::optional<std::uint32_t> hop_limit{};
  std::string source_port = "keep";
  std::vector<std::string> qpn_maps{};
  std::string psn_offset{};
  std::vector<std::string> p_key_maps{};
  std::vector<std::string> q_key_maps{};
  std::vector<std::string> r_key_maps{};
  std::vector<std::string> va_maps{};
  std::vector<std::string> fields{};
  bool anonymise = false;
  std::string key{};
  std::uint64_t seed = 0;
  std::vector<std::string> faults{};  ///< rules of the impair engine
  RewriteRules rules{};               ///< rules that need no parsing
};

/// Adds the options that tell what to change; `options` has to outlive the parsing.
void add_rewrite_options(command_line::Command& command, RewriteOptions& options);

/// Returns the rules of the options. Failure: the first text that is wrong, with its option.
[[nodiscard]] Outcome<RewriteRules> read_rewrite_rules(const RewriteOptions& options);

/// Returns the faults of the options. Failure: the first rule that is wrong.
[[nodiscard]] Outcome<impair::RuleSet> read_faults(const RewriteOptions& options);

}  // namespace roce::replay
