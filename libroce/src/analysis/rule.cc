// SPDX-License-Identifier: BSD-2-Clause
// The rules whose breach can be seen on a wire, with their texts.
#include "roce/analysis/rule.h"

#include <algorithm>
#include <array>

namespace roce::analysis {

namespace {

constexpr std::array kInfos{
    RuleInfo{Rule::none, "", RuleParty::either, ""},
    RuleInfo{Rule::transport_version, "W-BTH-2", RuleParty::either, "its transport header version is not 0"},
    RuleInfo{Rule::padding, "W-PAD-1", RuleParty::either, "payload plus pad is not a multiple of 4 bytes"},
    RuleInfo{Rule::request_payload, "RC-REQ-02", RuleParty::requester,
             "its payload is not what a FIRST, MIDDLE, LAST or ONLY of this path MTU carries"},
    RuleInfo{Rule::request_order, "RC-REQ-30", RuleParty::requester,
             "its opcode cannot follow that of the request before it"},
    RuleInfo{Rule::write_length, "RC-REQ-31", RuleParty::requester,
             "the packets of the WRITE do not add up to the length in its RETH"},
    RuleInfo{Rule::one_nak_per_gap, "RC-RESP-02", RuleParty::responder, "the NAK for one gap is repeated"},
    RuleInfo{Rule::current_msn, "RC-RESP-17", RuleParty::responder, "its MSN is less than one sent before it"},
    RuleInfo{Rule::answer_order, "RC-RESP-20", RuleParty::responder,
             "it is not the FIRST, MIDDLE, LAST or ONLY that belongs at this point of a READ's answer"},
    RuleInfo{Rule::answer_length, "RC-RESP-33", RuleParty::responder,
             "the packets of the answer do not add up to what the READ asked for"},
    RuleInfo{Rule::cnp_interval, "CC-01", RuleParty::either, "CNPs come more often than their interval allows"},
    RuleInfo{Rule::pause, "CC-06", RuleParty::either, "it was sent while its priority was paused"},
};

[[nodiscard]] constexpr bool in_order() {
  for (std::size_t i = 0; i < kInfos.size(); ++i) {
    if (static_cast<std::size_t>(kInfos[i].rule) != i) return false;
  }
  return kInfos.size() == static_cast<std::size_t>(Rule::count);
}
static_assert(in_order());

}  // namespace

const RuleInfo& rule_info(Rule rule) {
  return kInfos[static_cast<std::size_t>(rule)];
}

std::span<const RuleInfo> rule_infos() {
  return std::span{kInfos}.subspan(1);
}

std::optional<Rule> rule_from_identifier(std::string_view identifier) {
  const auto infos = rule_infos();
  const auto found =
      std::find_if(infos.begin(), infos.end(), [&](const RuleInfo& info) { return info.identifier == identifier; });
  if (found == infos.end()) return std::nullopt;
  return found->rule;
}

std::string_view to_string(RuleParty party) {
  constexpr std::array<std::string_view, 3> names{"either", "requester", "responder"};
  return names[static_cast<std::size_t>(party)];
}

}  // namespace roce::analysis
