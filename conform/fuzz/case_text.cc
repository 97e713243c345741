// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/case_text.h"

#include "conform/fuzz/finding_case.h"
#include "conform/fuzz/program_text.h"
#include "text/text_buffer.h"

namespace roce::conform::fuzz {

void CaseText::add_head(const ProgramResult& failed) {
  add("# {}\n", failed.alarm->what);
  add("case: {}\n", case_name(failed));
  add("title: {}\n", quoted("Found by the fuzzer: " + failed.alarm->place));
  add("rule: [{}]\nlevel: must\n",
      failed.program.is_for_requester ? "IBTA 9.7.6, IBTA 9.9.2" : "IBTA 9.7.4, IBTA 9.7.5");
  add("needs: [agent, rc, atomics]\n");
}

void CaseText::add_setup(const ProgramResult& failed, std::string_view attributes) {
  add("setup:\n");
  add("  qp: {{path_mtu: {}, receives: 0, {}}}\n", failed.program.path_mtu, attributes);
  add("  filler: {{qp: {{path_mtu: {}}}}}\n", kFillBytes);
  add("  right: {{mr: {{length: {}}}}}\n", kRegionBytes);
  add("  other_pd: {{mr: {{length: {}, in_other_pd: \"true\"}}}}\n", kRegionBytes);
  add("  closed: {{mr: {{length: {}, access: [local_write]}}}}\n", kRegionBytes);
  add("  gone: {{mr: {{length: {}}}}}\n", kRegionBytes);
  add("  buffers: {{mr: {{length: {}, access: [local_write]}}}}\n", failed.regions.buffers.length);
}

void CaseText::begin_steps() {
  add("steps:\n");
  add_step("deregister: gone");
  add_step("for_each:");
  add("      k: 0..{}\n      steps:\n", kRegionBytes / kFillBytes - 1);
  begin_inner();
  const std::string place = fmt::format("$right.va + {} * $k", kFillBytes);
  const std::string bytes = fmt::format("\"bytes($k + 1, {})\"", kFillBytes);
  add_step(fmt::format("inject: {{WRITE_ONLY: , on: filler, rdma.va: {}, rdma.r_key: $right.r_key, payload: {}}}",
                       place, bytes));
  add_step("expect: {ACK: [$filler.E, $filler.M + 1], on: filler}");
  add_step(fmt::format("memory: {{at: {}, is: {}}}", place, bytes));
  end_inner();
}

void CaseText::add_end(const ProgramResult& failed) {
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
