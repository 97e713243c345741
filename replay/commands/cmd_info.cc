// SPDX-License-Identifier: BSD-2-Clause
#include "replay/commands/commands.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "capture/link_types.h"
#include "command_line/counted.h"
#include "command_line/ending.h"
#include "command_line/outcome.h"
#include "command_line/program.h"
#include "files/file_use.h"
#include "replay/info/capture_info.h"
#include "replay/info/info_report.h"
#include "roce/link/capture_reader.h"

namespace roce::replay {

namespace {

constexpr const char* kFooter =
    R"(Says which hosts and queue pairs speak, how fast, what has to be rewritten to play it elsewhere, and what cannot be
reproduced: cut payload, connections that had begun before, answers that are missing.
Examples:
  roce-replay info trace.pcap
  roce-replay info --json trace.pcap | jq -r '.connections[] | select(.not_reproducible == []) | .ends[].qpn'
Exit code: 0 done, 1 the file could not be read or has no RoCE packet, 2 wrong command line.)";

struct Options {
  std::string file;
  bool json = false;
};

[[nodiscard]] Outcome<ExitCode> run(const Options& options) {
  const std::array read{files::FileUse{"FILE", options.file}};
  if (const auto conflict = files::find_conflict(read, {})) return cannot(*conflict);
  link::Result<link::CaptureReader> reader = link::CaptureReader::open(options.file);
  if (!reader) return failed(reader.error().message);
  InfoCollector collector;
  std::uint16_t link_type = link::kLinkTypeEthernet;
  for (link::CaptureRecord record; reader->next(record);) {
    collector.take(record);
    link_type = record.link_type;
  }
  const CaptureInfo info = collector.finish();
  if (info.frames != 0 && info.unreadable == info.frames)
    return failed(capture::unknown_link_type(options.file, link_type));
  if (info.roce_packets == 0 && !reader->error()) {
    return failed(fmt::format("{}: there is no RoCE packet in its {}", options.file,
                              command_line::counted(info.frames, "frame", "frames")));
  }
  if (options.json) {
    print_info_json(options.file, info);
  } else {
    print_info_text(options.file, info);
  }
  for (const link::CaptureWarning& warning : reader->warnings())
    fmt::print(stderr, "roce-replay: {}\n", warning.message);
  if (reader->error()) return failed(reader->error()->message);
  return ExitCode::ok;
}

}  // namespace

void add_info(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("info", "What is in a capture as far as playing it again goes");
  auto options = std::make_shared<Options>();
  command.add_option("file", options->file, "Capture file; - is standard input").required().type_name("FILE");
  command.add_flag("--json", options->json, "One JSON object");
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-replay", run(*options)); });
}

}  // namespace roce::replay
