// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/case_text.h"

#include <algorithm>
#include <cstdint>

#include "conform/fuzz/finding_case.h"
#include "conform/fuzz/program_text.h"
#include "text/text_buffer.h"

namespace roce::conform::fuzz {

namespace {

std::string_view rules_of(const Program& program) {
  if (program.type == transport::QpType::uc) return "IBTA 9.8.2";
  if (program.type == transport::QpType::ud) return "IBTA 9.8.3";
  if (program.half == Half::manager) return "IBTA 12.6, IBTA 12.9";
  return program.half == Half::requester ? "IBTA 9.7.6, IBTA 9.9.2" : "IBTA 9.7.4, IBTA 9.7.5";
}

bool uses_lent(const Program& program) {
  return std::ranges::any_of(program.actions, [](const Action& action) {
    const auto* request = std::get_if<Request>(&action);
    return std::holds_alternative<Deregister>(action) || (request != nullptr && request->key == Key::lent);
  });
}

bool uses_foreign(const ProgramResult& failed) {
  const auto names_it = [](const Action& action) {
    const auto* request = std::get_if<Request>(&action);
    return request != nullptr && request->key == Key::foreign;
  };
  return failed.regions.foreign.r_key != 0 && std::ranges::any_of(failed.program.actions, names_it);
}

bool binds_window(const ProgramResult& failed) {
  return std::ranges::any_of(failed.turns, [](const Turn& turn) { return turn.bind != BindOutcome::none; });
}

/// Returns what tells a QP from the usual one, with a comma behind it.
std::string kind_of(transport::QpType type, RoceVersion version) {
  std::string text;
  if (type != transport::QpType::rc) text += fmt::format("type: {}, ", type_name(type));
  if (version != RoceVersion::none) text += fmt::format("version: {}, ", version_name(version));
  return text;
}

}  // namespace

void CaseText::add_head(const ProgramResult& failed) {
  add("# {}\n", failed.alarm->what);
  add("case: {}\n", case_name(failed));
  add("title: {}\n", double_quoted("Found by the fuzzer: " + failed.alarm->place));
  add("rule: [{}]\nlevel: must\n", rules_of(failed.program));
  if (failed.program.half == Half::manager) return add("needs: [agent, rc, cm]\n");
  const bool is_reliable = failed.program.type == transport::QpType::rc;
  add("needs: [agent, rc, {}{}]\n", is_reliable ? "atomics" : type_name(failed.program.type),
      binds_window(failed) || uses_foreign(failed) ? ", mw, type2_mw" : "");
}

void CaseText::add_setup(const ProgramResult& failed, std::string_view attributes) {
  add("setup:\n");
  const transport::QpType type = failed.program.type;
  // A UD QP is not connected, and has no path.
  const bool has_path = type != transport::QpType::ud;
  add("  qp: {{{}{}receives: 0, {}}}\n", kind_of(type, failed.program.version),
      has_path ? fmt::format("path_mtu: {}, ", failed.program.path_mtu) : "", attributes);
  const bool needs_other = std::ranges::any_of(failed.program.actions, [](const Action& action) {
    const auto* request = std::get_if<Request>(&action);
    return request != nullptr && request->other_version;
  });
  if (needs_other) add("  other: {{qp: {{{}receives: 0}}}}\n", kind_of(type, failed.other_version));
  add("  filler: {{qp: {{path_mtu: {}}}}}\n", kFillBytes);
  add("  right: {{mr: {{length: {}}}}}\n", kRegionBytes);
  add("  other_pd: {{mr: {{length: {}, in_other_pd: \"true\"}}}}\n", kRegionBytes);
  add("  closed: {{mr: {{length: {}, access: [local_write]}}}}\n", kRegionBytes);
  add("  gone: {{mr: {{length: {}}}}}\n", kRegionBytes);
  if (uses_lent(failed.program)) add("  lent: {{mr: {{length: {}}}}}\n", kLentBytes);
  add("  buffers: {{mr: {{length: {}, access: [local_write]}}}}\n", failed.regions.buffers.length);
  if (uses_foreign(failed)) add("  foreign: {{mw: {{type: 2}}}}\n");
  if (!binds_window(failed)) return;
  const auto restarts = std::ranges::count_if(
      failed.program.actions, [](const Action& action) { return std::holds_alternative<Restart>(action); });
  for (unsigned life = 1; life <= restarts + 1; ++life) add("  {}: {{mw: {{type: 2}}}}\n", window_name(life));
}

void CaseText::begin_steps(const ProgramResult& failed) {
  add("steps:\n");
  add_step("set: {goes_on: 1}");
  add_step("deregister: gone");
  add_fill("right", kRegionBytes);
  if (uses_lent(failed.program)) add_fill("lent", kLentBytes);
  if (!uses_foreign(failed)) return;
  add_step(fmt::format(
      "bind: {{on: filler, window: foreign, region: right, at: $right.va, length: {}, access: [remote_write, "
      "remote_read, remote_atomic], variant: ($foreign.r_key + 1) & 0xFF, wr_id: 0}}",
      kRegionBytes));
  add_step("completion: {on: filler, of: send, wr_id: 0, status: success, opcode: bind memory window}");
}

void CaseText::add_fill(std::string_view region, std::uint32_t size) {
  add_step("for_each:");
  add("      k: 0..{}\n      steps:\n", size / kFillBytes - 1);
  begin_inner();
  const std::string place = fmt::format("${}.va + {} * $k", region, kFillBytes);
  const std::string bytes = fmt::format("\"bytes($k + 1, {})\"", kFillBytes);
  add_step(fmt::format("inject: {{WRITE_ONLY: , on: filler, rdma.va: {}, rdma.r_key: ${}.r_key, payload: {}}}", place,
                       region, bytes));
  add_step("expect: {ACK: [$filler.E, $filler.M + 1], on: filler}");
  add_step(fmt::format("memory: {{at: {}, is: {}}}", place, bytes));
  end_inner();
}

void CaseText::begin_rest() {
  end_rest();
  add_step("repeat:");
  add("{0}    times: $goes_on\n{0}    steps:\n", indent_);
  begin_inner();
  is_rest_ = true;
}

void CaseText::end_rest() {
  if (is_rest_) end_inner();
  is_rest_ = false;
}

void CaseText::add_end(const ProgramResult& failed) {
  if (failed.alarm->oracle == Oracle::counters) {
    std::size_t frames = kRegionBytes / kFillBytes;
    for (const Turn& turn : failed.turns) frames += turn.answers.size();
    const std::string& counter = failed.alarm->counter;
    const std::uint64_t least = failed.alarm->counter_least.value_or(frames);
    add_step(fmt::format("counter: {{{}: {}..{}}}", counter, least, UINT32_MAX));
  }
  if (failed.alarm->oracle != Oracle::liveness) return;
  add_step("inject: {READ_REQUEST: , on: filler, rdma.va: $right.va, rdma.r_key: $right.r_key, rdma.length: 8}");
  add_step("expect: {READ_RESPONSE_ONLY: , on: filler, bth.psn: $filler.E}");
}

std::string hex_digits(Bytes bytes) {
  text::TextBuffer digits;
  text::append_hex(digits, bytes);
  return fmt::to_string(digits);
}

std::string_view short_name(Opcode opcode) {
  constexpr std::string_view service = "RC_";
  const std::string_view name = opcode_info(opcode).name;
  return name.starts_with(service) ? name.substr(service.size()) : name;
}

}  // namespace roce::conform::fuzz
