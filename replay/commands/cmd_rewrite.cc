// SPDX-License-Identifier: BSD-2-Clause
#include "replay/commands/commands.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "command_line/ending.h"
#include "command_line/outcome.h"
#include "command_line/program.h"
#include "replay/rewrite/rewrite_options.h"
#include "replay/rewrite/rewrite_run.h"

namespace roce::replay {

namespace {

constexpr const char* kFooter =
    R"(Checksums and ICRC are made right for every packet; lengths follow. Maps may be given several times.
Examples:
  roce-replay rewrite --ip-map 10.77.0.0/24=192.0.2.0/24 in.pcap out.pcap
  roce-replay rewrite --ip-map 10.77.0.2=fd00::2 --ip-map 10.77.0.3=fd00::3 in.pcap v6.pcapng
  roce-replay rewrite --to-version v1 in.pcap v1.pcapng
  roce-replay rewrite --destination-mac 02:00:00:00:00:07 --qpn-map 0x11@10.77.0.2=0x99 --psn-offset 1000 in.pcap out.pcap
  roce-replay rewrite --vlan-add 100:3 --dscp 26 --set bth.mig_req=true in.pcap out.pcap
  roce-replay rewrite --path-mtu 256 in.pcap small.pcap
  roce-replay rewrite --anonymise in.pcapng to-share.pcapng
  roce-replay rewrite -e drop:op=write_middle,probability=0.01 in.pcap lossy.pcap
  roce-replay rewrite --dry-run --json --ip-map 10.77.0.2=192.0.2.2 in.pcap
Exit code: 0 written, 1 reading, rewriting or writing failed, 2 wrong command line; there is no OUT then.)";

struct Options {
  std::string in;
  std::string out;
  RewriteOptions rewrite;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
};

[[nodiscard]] Outcome<ExitCode> run(const Options& options) {
  if (options.out.empty() != options.dry_run) {
    return cannot(options.dry_run ? "--dry-run writes nothing; leave out OUT"
                                  : "say where to write: OUT, or --dry-run to write nothing");
  }
  if (options.json && options.out == "-") return cannot("--json and the capture cannot both go to standard output");
  Outcome<RewriteRules> rules = read_rewrite_rules(options.rewrite);
  if (!rules) return tl::unexpected(rules.error());
  RewriteJob job{.in = options.in,
                 .out = options.out,
                 .rules = std::move(*rules),
                 .faults = {},
                 .fields = options.rewrite.fields,
                 .dry_run = options.dry_run,
                 .progress = !options.json && !options.quiet && ::isatty(STDERR_FILENO) == 1};
  Outcome<impair::RuleSet> faults = read_faults(options.rewrite);
  if (!faults) return tl::unexpected(faults.error());
  job.faults = std::move(*faults);
  const Outcome<RewriteReport> report = run_rewrite(job);
  if (!report) return tl::unexpected(report.error());
  if (options.json) {
    print_json(*report);
  } else if (!options.quiet) {
    print_text(*report);
  }
  return ExitCode::ok;
}

}  // namespace

void add_rewrite(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("rewrite", "Write a capture again, changed and still valid");
  auto options = std::make_shared<Options>();
  command.add_option("in", options->in, "Capture file to read; - is standard input").required().type_name("IN");
  command.add_option("out", options->out, "Capture file to write: pcap by a name in .pcap, else pcapng; .gz, .zst")
      .type_name("OUT");
  add_rewrite_options(command, options->rewrite);
  command.add_flag("--dry-run", options->dry_run, "Write nothing, say what would be changed");
  command.add_flag("--json", options->json, "What was changed as one JSON object");
  command.add_flag("-q,--quiet", options->quiet, "Say nothing but errors");
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-replay", run(*options)); });
}

}  // namespace roce::replay
