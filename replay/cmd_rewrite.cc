// SPDX-License-Identifier: BSD-2-Clause
#include "replay/cmd_rewrite.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

#include "command_line/program.h"
#include "replay/failure.h"
#include "roce/link/capture_reader.h"
#include "roce/link/capture_writer.h"

namespace roce::replay {

namespace {

constexpr const char* kFooter =
    R"(Examples:
  roce-replay rewrite in.pcap out.pcapng
Exit code: 0 written, 1 reading or writing failed, 2 wrong command line.)";

struct RewriteOptions {
  std::string in;
  std::string out;
};

[[nodiscard]] Outcome<ExitCode> run(const RewriteOptions& options) {
  link::Result<link::CaptureReader> reader = link::CaptureReader::open(options.in);
  if (!reader) return failed(reader.error().message);
  link::Result<link::CaptureWriter> writer = link::CaptureWriter::create(options.out);
  if (!writer) return failed(writer.error().message);
  for (link::CaptureRecord record; reader->next(record);) {
    if (const link::Result<void> written = writer->write(record); !written) return failed(written.error().message);
  }
  if (reader->error()) return failed(reader->error()->message);
  if (const link::Result<void> closed = writer->close(); !closed) return failed(closed.error().message);
  return ExitCode::ok;
}

}  // namespace

void add_rewrite(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("rewrite", "Write a capture again, changed and still valid");
  auto options = std::make_shared<RewriteOptions>();
  command.add_option("in", options->in, "Capture file to read").required().type_name("IN");
  command.add_option("out", options->out, "Capture file to write").required().type_name("OUT");
  command.footer(kFooter);
  command.callback([options, &code] {
    const Outcome<ExitCode> done = run(*options);
    if (!done) fmt::print(stderr, "roce-replay: {}\n", done.error().message);
    code = done ? *done : done.error().code;
  });
}

}  // namespace roce::replay
