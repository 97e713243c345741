// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "roce/impair/engine.h"
#include "wire/text.h"

namespace roce::impair {

namespace {

std::string seconds(Time time) {
  const std::int64_t ns = time.time_since_epoch().count();
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  const std::string fraction = std::to_string(size % 1'000'000'000);
  return (ns < 0 ? "-" : "") + std::to_string(size / 1'000'000'000) + "." + std::string(9 - fraction.size(), '0') +
         fraction;
}

}  // namespace

std::string to_string(const LogRecord& record, const RuleSet& rules) {
  std::string text = seconds(record.time) + " " + std::string{to_string(record.flow.direction)} + " packet " +
                     std::to_string(record.packet) + ": ";
  std::string rule = "rule " + std::to_string(record.rule + std::uint64_t{1});
  if (record.rule < rules.rules().size()) {
    const Rule& of = rules.rules()[record.rule];
    text += std::string{action_name(of.action.index())} + " ";
    if (!of.name.empty()) rule += " '" + of.name + "'";
  }
  if (record.outcome == LogOutcome::over_limit) text += "left out, too much is held already ";
  text += "(" + rule + ")";
  if (!record.is_roce) return text + " not RoCE";
  const OpcodeInfo& info = opcode_info(record.opcode);
  text +=
      " " + roce::to_string(record.flow.source) + " > " + roce::to_string(record.flow.destination) + " qp " +
      text::hex(record.flow.dest_qp.value(), 6) + " " +
      (info.defined() ? std::string{info.name} : "opcode " + text::hex(static_cast<std::uint64_t>(record.opcode), 2));
  if (record.packet_class == PacketClass::nak || record.packet_class == PacketClass::rnr_nak) {
    text += " (" + std::string{to_string(record.packet_class)} + ")";
  }
  text += " psn " + std::to_string(record.psn.value()) + " (" + (record.relative_psn < 0 ? "" : "+") +
          std::to_string(record.relative_psn) + ") transmission " + std::to_string(record.transmission);
  return text;
}

}  // namespace roce::impair
