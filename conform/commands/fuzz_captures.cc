// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/fuzz_captures.h"

#include <fmt/format.h>

#include <utility>

#include "conform/fuzz/capture_programs.h"
#include "roce/link/capture_reader.h"
#include "roce/wire/super_frame.h"

namespace roce::conform {

Outcome<std::vector<fuzz::Program>> programs_of_captures(const std::vector<std::string>& paths) {
  std::vector<fuzz::Program> programs;
  for (const std::string& path : paths) {
    link::Result<link::CaptureReader> reader = link::CaptureReader::open(path);
    if (!reader) return failed(reader.error().message);
    fuzz::CapturePrograms of_file;
    for (link::CaptureRecord record; reader->next(record);) {
      const Packet whole = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
      if (!whole.is_roce()) continue;
      for_each_packet(whole, [&](const Packet& packet, const IcrcVerdict& icrc) {
        if (icrc.status != IcrcStatus::bad) of_file.add(packet);
      });
    }
    if (reader->error()) return failed(reader->error()->message);
    std::vector<fuzz::Program> found = of_file.programs();
    if (found.empty()) {
      return cannot(
          fmt::format("{}: no message to a QP of RC, UC or UD begins in it, so there is nothing to begin with", path));
    }
    for (fuzz::Program& program : found) programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace roce::conform
