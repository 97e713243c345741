// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/commands/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include "analyze/decode/decode_options.h"
#include "analyze/decode/decode_run.h"
#include "analyze/decode/json_format.h"
#include "analyze/decode/line_format.h"
#include "analyze/input/report.h"
#include "command_line/counted.h"
#include "command_line/program.h"
#include "files/file_use.h"
#include "packet_text/verbose_format.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze decode trace.pcap                            one line a packet
  roce-analyze decode --only-bad-icrc --explain trace.pcap  damaged packets, and how
  roce-analyze decode -v --qp 0x11 trace.pcapng.gz          every field of one QP's packets
  roce-analyze decode --opcode 'RC_*ACK*' --src 192.0.2.7 trace.pcap
  roce-analyze decode --json trace.pcap | jq -c 'select(.aeth) | [.frame.number, .aeth.meaning]'
  tcpdump -i eth0 -U -w - udp port 4791 | roce-analyze decode -
  roce-analyze decode --hex -v < frame.txt                  a frame pasted from anywhere

Exit code: 0 all files were read, 1 a file could not be read (to its end; the others still are), the output could not
be written or memory ran out, 2 wrong command line.)";

void add_options(command_line::Command& command, DecodeOptions& options) {
  command.add_option("FILE", options.inputs, "Capture files (pcap, pcapng, .gz, .zst); - is standard input");

  const auto show = "What is printed";
  command.add_flag("-v,--verbose", options.verbose, "Every field of every header with its byte offset").group(show);
  command.add_flag("--json", options.json, "One JSON object a packet, one a line").group(show).excludes("--verbose");
  command.add_flag("--payload", options.payload, "With -v and --json: the bytes of the payload too").group(show);
  command.add_flag("--explain", options.explain, "Say which common mistake or damage makes a wrong ICRC match")
      .group(show);
  command.add_flag("--summary", options.summary, "Counts on standard error at the end (on a terminal always)")
      .group(show);
  command
      .add_choice("--time", options.time,
                  {{"relative", TimeStyle::relative}, {"epoch", TimeStyle::epoch}, {"utc", TimeStyle::utc}},
                  "relative (to the first packet; the default), epoch or utc")
      .type_name("STYLE")
      .group(show);
  command
      .add_choice("--color,--colour", options.colour,
                  {{"auto", text::ColourWhen::automatic},
                   {"always", text::ColourWhen::always},
                   {"never", text::ColourWhen::never}},
                  "auto (the default: on a terminal), always or never")
      .type_name("WHEN")
      .group(show);

  const auto which = "Which packets (all given kinds must hold; of one kind, any)";
  command.add_flag("--only-bad-icrc", options.only_bad_icrc, "Packets whose ICRC is wrong, one line each").group(which);
  command.add_flag("--all", options.all, "Also frames that are neither RoCE nor PFC, PAUSE, LLDP or CNM").group(which);
  const auto several = [&](const char* name, std::vector<std::string>& into, const char* type, const char* text) {
    command_line::Option option = command.add_option(name, into, text).type_name(type).expected(1).take_all();
    option.allow_extra_args(false).group(which);  // otherwise, CLI11 would take the files that follow as values
  };
  several("--qp", options.selection.qps, "NUMBER", "Destination QP (of datagrams also the source)");
  several("--opcode", options.selection.opcodes, "NAME", "Opcode: a name, a pattern such as 'RC_WRITE*', or a number");
  several("--address", options.selection.addresses, "ADDRESS", "Source or destination: IP (/prefix), GID or MAC");
  several("--src", options.selection.sources, "ADDRESS", "Source address");
  several("--dst", options.selection.destinations, "ADDRESS", "Destination address");
  command
      .add_option("--from", options.selection.from, "Not before: seconds since the first packet or 1970, or RFC 3339")
      .type_name("TIME")
      .group(which);
  command.add_option("--to", options.selection.to, "Not after").type_name("TIME").group(which);

  command.add_flag("--hex", options.hex, "Decode hex text instead: the arguments, or standard input without any")
      .group("Input");
  command.footer(std::string{kExamples});
}

std::unique_ptr<packet_text::PacketFormat> make_format(const DecodeOptions& options) {
  if (options.json) return std::make_unique<JsonFormat>(JsonFormat::Options{options.payload, options.explain});
  const text::Palette palette = text::choose_palette(options.colour);
  if (options.verbose) {
    return std::make_unique<packet_text::VerboseFormat>(
        packet_text::VerboseFormat::Options{options.payload, options.explain, palette});
  }
  const bool with_file = !options.hex && options.inputs.size() > 1;
  return std::make_unique<LineFormat>(
      LineFormat::Options{options.time, with_file, options.explain, palette, text::locale_charset()});
}

tl::expected<std::string, std::string> read_standard_input() {
  std::string text;
  std::array<char, 65536> block{};
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, block.data(), block.size());
    if (size == 0) return text;
    if (size > 0) {
      text.append(block.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      return tl::unexpected(std::string{"cannot read standard input: "} + std::strerror(errno));
    }
  }
}

ExitCode decode_hex(DecodeRun& run, const DecodeOptions& options) {
  if (!options.inputs.empty() && options.inputs != std::vector<std::string>{"-"}) {
    return run.decode_hex(fmt::format("{}", fmt::join(options.inputs, " ")), "hex");
  }
  const auto text = read_standard_input();
  if (text) return run.decode_hex(*text, "standard input");
  report(text.error());
  return ExitCode::failed;
}

ExitCode run_decode(const DecodeOptions& options) {
  const auto filter = PacketFilter::make(options.selection);
  if (!filter) {
    report(filter.error());
    return ExitCode::usage;
  }
  if (!options.hex && options.inputs.empty()) {
    report("which file? roce-analyze decode FILE... (- is standard input; --help shows examples)");
    return ExitCode::usage;
  }
  std::vector<files::FileUse> read;
  read.reserve(options.inputs.size() + 1);
  for (const std::string& path : options.inputs) read.push_back({"FILE", options.hex ? "" : path});
  if (options.hex && options.inputs.empty()) read.push_back({"the text", "-"});
  if (const auto conflict = files::find_conflict(read, {})) {
    report(*conflict);
    return ExitCode::usage;
  }
  // Without the signal, a write reports that the reader has gone, which ends the run quietly.
  std::signal(SIGPIPE, SIG_IGN);
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  text::Output output{STDOUT_FILENO, on_terminal};
  const std::unique_ptr<packet_text::PacketFormat> format = make_format(options);
  DecodeRun run{options, *filter, *format, output, isatty(STDERR_FILENO) != 0 && !on_terminal};

  ExitCode code = ExitCode::ok;
  if (options.hex) {
    code = decode_hex(run, options);
  } else {
    for (const std::string& path : options.inputs) {
      if (run.decode_file(path) != ExitCode::ok) code = ExitCode::failed;
      if (output.is_over()) break;
    }
  }
  if (output.error()) {
    report(*output.error());
    return ExitCode::failed;
  }
  if (options.summary || on_terminal) {
    const DecodeCounts& counts = run.counts();
    report(fmt::format(
        "{}, {}; ICRC: {} good, {} bad, {} not checked", command_line::counted(counts.frames, "frame", "frames"),
        command_line::counted(counts.roce, "RoCE packet", "RoCE packets"), counts.good, counts.bad, counts.unchecked));
  }
  return code;
}

}  // namespace

void add_decode(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("decode", "Print packets with a verdict on the ICRC of each");
  const auto options = std::make_shared<DecodeOptions>();
  add_options(command, *options);
  command.callback([options, &code] { code = run_decode(*options); });
}

}  // namespace roce::analyze
