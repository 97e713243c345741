// SPDX-License-Identifier: BSD-2-Clause
// Prints every verdict on a capture as NDJSON, for ground_truth.py.
#include <cstdio>
#include <vector>

#include "roce/analysis/tracker.h"
#include "roce/link/capture_file.h"
#include "roce/wire/super_frame.h"

namespace {

void print(const roce::analysis::Verdict& verdict) {
  using namespace roce::analysis;
  const VerdictInfo& info = verdict_info(verdict.kind);
  std::printf(
      "{\"verdict\": \"%s\", \"frame\": %llu, \"segment\": %u, \"stream\": %u, \"cause\": \"%s\", "
      "\"spurious\": %s, \"rule\": \"%s\", \"first_psn\": %u, \"psn_count\": %u, \"other\": %llu, \"elapsed_ns\": "
      "%lld}\n",
      std::string(info.name).c_str(), static_cast<unsigned long long>(verdict.packet.frame), verdict.packet.segment,
      verdict.stream, std::string(to_string(verdict.cause)).c_str(), verdict.spurious ? "true" : "false",
      std::string(rule_info(verdict.rule).identifier).c_str(), verdict.first_psn.value(), verdict.psn_count,
      static_cast<unsigned long long>(verdict.other.frame), static_cast<long long>(verdict.elapsed.count()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto reader = roce::link::CaptureReader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 2;
  }
  roce::analysis::Tracker tracker;
  std::vector<roce::analysis::Verdict> later;
  roce::link::CaptureRecord record;
  while (reader->next(record)) {
    const roce::Packet packet =
        roce::parse_frame(record.bytes, static_cast<roce::LinkType>(record.link_type), record.original_length);
    std::uint32_t segment = 0;
    roce::for_each_packet(packet, [&](const roce::Packet& part, const roce::IcrcVerdict& icrc) {
      const roce::Time time{roce::Duration{record.timestamp_ns}};
      const auto seen = roce::analysis::observe_packet(part, icrc, time, {record.number, segment++});
      for (const auto& verdict : tracker.observe(seen).verdicts) print(verdict);
      tracker.drain(later);
      for (const auto& verdict : later) print(verdict);
      later.clear();
    });
  }
  tracker.finish();
  tracker.drain(later);
  for (const auto& verdict : later) print(verdict);
  return 0;
}
