// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "files/file_use.h"
#include "gen/commands/commands.h"
#include "gen/fabric/fabric_file.h"
#include "gen/fabric/fabric_files.h"
#include "gen/fabric/fabric_page.h"
#include "gen/fabric/fabric_report.h"
#include "page/page_file.h"
#include "text/human_units.h"
#include "yaml/yaml_input.h"

namespace roce::gen {

namespace {

constexpr const char* kFooter =
    R"(The file has the topology, the links, the hosts, the switches and the workloads: docs/fabric.md. Example:
  duration: 10ms
  topology: {name: clos, leaves: 16, spines: 4, hosts: 16, rate: 25G, delay: 1us}
  hosts: {congestion: dcqcn}
  switches: {red: {kmin: 5KB, kmax: 200KB, pmax: 0.01}, pfc: {priorities: [3]}}
  workloads: [{kind: permutation, size: 10MB}]
The same file and seed give the same output, byte for byte; the speed of the simulation goes to standard error.
Exit code: 0 the run ended, 1 a file could not be read or written, 2 wrong command line, or a mistake in the file.)";

struct FabricOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
  bool json = false;
  std::string csv;
  std::string flow_csv;
  std::string interval = "10us";
  std::vector<std::string> captures;
  std::string report;
};

/// The files that a run writes beside its report.
struct Outputs {
  std::optional<QueueSamples> queues;
  std::optional<FlowSamples> flows;
  std::optional<page::PageFile> report;
  std::optional<FabricSeries> series;  ///< of the report
  std::vector<std::unique_ptr<LinkCapture>> captures;
};

[[nodiscard]] Outcome<void> check_files(const FabricOptions& options) {
  const std::vector<files::FileUse> reading{{"FILE", options.file}};
  std::vector<files::FileUse> written{
      {"--csv", options.csv}, {"--flow-csv", options.flow_csv}, {"--report", options.report}};
  for (const std::string& capture : options.captures) written.push_back({"--capture", LinkCapture::file_of(capture)});
  if (const auto conflict = files::find_conflict(reading, written)) return cannot(*conflict);
  return {};
}

[[nodiscard]] Outcome<Outputs> open_outputs(const FabricOptions& options, fabric::Fabric& fabric) {
  Outputs outputs;
  for (const std::string& choice : options.captures) {
    Outcome<std::unique_ptr<LinkCapture>> capture = LinkCapture::open(choice, fabric.topology());
    if (!capture) return tl::unexpected(capture.error());
    for (const std::unique_ptr<LinkCapture>& other : outputs.captures) {
      if (other->link() == (*capture)->link()) return cannot("--capture: the link is there twice: " + choice);
    }
    fabric.set_tap((*capture)->link(), capture->get());
    outputs.captures.push_back(std::move(*capture));
  }
  if (!options.csv.empty()) {
    Outcome<QueueSamples> samples = QueueSamples::create(options.csv);
    if (!samples) return tl::unexpected(samples.error());
    outputs.queues.emplace(std::move(*samples));
  }
  if (!options.flow_csv.empty()) {
    Outcome<FlowSamples> samples = FlowSamples::create(options.flow_csv);
    if (!samples) return tl::unexpected(samples.error());
    outputs.flows.emplace(std::move(*samples));
  }
  Outcome<std::optional<page::PageFile>> report = page::open_report(options.report);
  if (!report) return tl::unexpected(report.error());
  outputs.report = std::move(*report);
  if (outputs.report) outputs.series.emplace();
  return outputs;
}

/// Runs until all flows with an end have ended, or until `end`.
[[nodiscard]] Outcome<void> run_all(fabric::Fabric& fabric, Time end, Duration interval, Outputs& outputs) {
  const bool has_end = !fabric.is_done();
  while (fabric.now() < end && !(has_end && fabric.is_done())) {
    fabric.run_until(outputs.queues || outputs.flows || outputs.series ? std::min(end, fabric.now() + interval) : end);
    Outcome<void> sampled;
    if (outputs.queues) sampled = outputs.queues->sample(fabric);
    if (sampled && outputs.flows) sampled = outputs.flows->sample(fabric);
    if (outputs.series) outputs.series->sample(fabric);
    if (!sampled) return sampled;
  }
  return {};
}

[[nodiscard]] Outcome<void> close_outputs(Outputs& outputs) {
  for (const std::unique_ptr<LinkCapture>& capture : outputs.captures) {
    if (Outcome<void> closed = capture->close(); !closed) return closed;
  }
  if (outputs.queues) {
    if (Outcome<void> closed = outputs.queues->close(); !closed) return closed;
  }
  return outputs.flows ? outputs.flows->close() : Outcome<void>{};
}

[[nodiscard]] Outcome<ExitCode> run(const FabricOptions& options) {
  using Clock = std::chrono::steady_clock;
  const std::optional<std::int64_t> interval = text::parse_duration(options.interval);
  if (!interval || *interval <= 0) return cannot("--interval: expected a time such as 10us, found " + options.interval);
  if (Outcome<void> checked = check_files(options); !checked) return tl::unexpected(checked.error());
  const tl::expected<std::string, yaml_input::YamlError> content = yaml_input::read_file(options.file);
  if (!content) return failed(fmt::format("cannot read {}: {}", options.file, content.error().what));
  Outcome<FabricFile> file = read_fabric(options.file, *content, options.seed);
  if (!file) return tl::unexpected(file.error());
  fabric::Result<fabric::Fabric> fabric =
      fabric::Fabric::make(std::move(file->topology), file->config, std::move(file->flows));
  if (!fabric) return cannot(fmt::format("{}: {}", options.file, to_string(fabric.error())));
  Outcome<Outputs> outputs = open_outputs(options, *fabric);
  if (!outputs) return tl::unexpected(outputs.error());
  const Clock::time_point begin = Clock::now();
  if (Outcome<void> ran = run_all(*fabric, Time{file->duration}, Duration{*interval}, *outputs); !ran) {
    return tl::unexpected(ran.error());
  }
  const double seconds = std::max(std::chrono::duration<double>(Clock::now() - begin).count(), 1e-6);
  if (Outcome<void> closed = close_outputs(*outputs); !closed) return tl::unexpected(closed.error());
  const FabricRunFacts facts{options.file, file->config.seed, file->workloads};
  fmt::print("{}", options.json ? fabric_json(*fabric, facts) : fabric_text(*fabric, facts));
  if (outputs->report) {
    const auto written = outputs->report->write(fabric_page(*fabric, facts, *outputs->series));
    if (!written) return failed(written.error());
  }
  const fabric::Totals totals = fabric->totals();
  fmt::print(stderr, "simulated {} packets over {} hops in {:.2f} s: {} packets, {} hops\n", totals.packets,
             totals.hops, seconds, text::rate_text(static_cast<double>(totals.packets) / seconds),
             text::rate_text(static_cast<double>(totals.hops) / seconds));
  return ExitCode::ok;
}

}  // namespace

void add_fabric(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("fabric", "Run hundreds of endpoints in a simulated network, the same each time");
  auto options = std::make_shared<FabricOptions>();
  command.add_option("file", options->file, "Topology, configuration and workloads (YAML)")
      .required()
      .type_name("FILE");
  command.add_option("--seed", options->seed, "Of all random numbers, in place of the file's").type_name("N");
  command.add_flag("--json", options->json, "Print one JSON object");
  command.add_option("--csv", options->csv, "Write queues and pauses, one row a queue that is in use and sample")
      .type_name("FILE");
  command.add_option("--flow-csv", options->flow_csv, "Write what flows delivered, one row a flow under way and sample")
      .type_name("FILE");
  command.add_option("--interval", options->interval, "Of the samples").type_name("TIME").capture_default_str();
  command.add_option("--capture", options->captures, "Write the frames of a link such as h0-s0 (repeatable)")
      .type_name("LINK=FILE");
  command
      .add_option("--report", options->report,
                  "Also write a page with plots and tables to this file, for a browser; it needs nothing else")
      .type_name("FILE.html");
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
