// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange_command.h"
#include "runtime/note.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "command_line/ending.h"
#include "gen/exchange/exchange.h"
#include "gen/exchange/exchange_page.h"
#include "gen/exchange/exchange_report.h"
#include "gen/exchange/sharded_exchange.h"
#include "options/written_files.h"
#include "page/page_file.h"
#include "roce/live/control_client.h"
#include "roce/live/control_target.h"
#include "roce/live/endpoint.h"
#include "runtime/rate.h"

namespace roce::gen {

namespace {

constexpr std::uint32_t kLargestMessage = 1U << 30;

[[nodiscard]] std::optional<std::uint32_t> parse_size(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit.empty() ? 1 : unit == "k" || unit == "K" ? 1024 : unit == "M" ? 1048576 : 0;
  const double bytes = value * factor;
  if (end == text.c_str() || factor == 0 || bytes < 1 || bytes > kLargestMessage || bytes != std::floor(bytes)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(bytes);
}

/// Prints the result and writes the page, whatever came of closing the endpoint.
[[nodiscard]] Outcome<ExitCode> end(const ExchangeCommand& command, const std::string& here,
                                    const ExchangeResult& result, std::optional<page::PageFile>& report,
                                    const Outcome<void>& closed) {
  print_exchange(command.exchange, result, command.endpoint.json);
  if (report) {
    const auto written = report->write(exchange_page(command.exchange, {here, command.target}, result));
    if (!written) return failed(written.error());
  }
  if (!closed) return tl::unexpected(closed.error());
  return result.stopped ? ExitCode::failed : ExitCode::ok;
}

[[nodiscard]] Outcome<ExitCode> run_shards(ExchangeCommand& command, const live::ControlAddress& address,
                                           std::optional<page::PageFile>& report) {
  Outcome<std::unique_ptr<ShardedExchange>> exchange =
      ShardedExchange::open(command.endpoint, command.exchange, address);
  if (!exchange) return tl::unexpected(exchange.error());
  runtime::print_note("ready", (*exchange)->description(), command.endpoint.json);
  const Outcome<ExchangeResult> result = (*exchange)->run();
  const Outcome<void> closed = (*exchange)->close();
  if (!result) return tl::unexpected(result.error());
  return end(command, (*exchange)->description(), *result, report, closed);
}

[[nodiscard]] Outcome<ExitCode> run(ExchangeCommand& command) {
  const Outcome<SizePlan> sizes = parse_sizes(command.sizes);
  if (!sizes) return tl::unexpected(sizes.error());
  command.exchange.sizes = *sizes;
  if (!command.rate.empty()) {
    const Outcome<runtime::Rate> rate = runtime::parse_rate(command.rate);
    if (!rate) return tl::unexpected(rate.error());
    command.exchange.rate = *rate;
  }
  const std::array read{files::FileUse{"--token-file", command.token_file}};
  std::vector<files::FileUse> written = options::written_files(command.endpoint);
  written.push_back({"--report", command.report});
  if (const auto conflict = files::find_conflict(read, written)) return cannot(*conflict);
  Outcome<std::optional<page::PageFile>> report = page::open_report(command.report);
  if (!report) return tl::unexpected(report.error());
  const live::Result<live::ControlAddress> address = live::control_target(command.target, command.token_file);
  if (!address) return tl::unexpected(address.error());
  if (command.endpoint.shards > 1) return run_shards(command, *address, *report);
  Outcome<std::unique_ptr<options::ProgramEndpoint>> program = options::ProgramEndpoint::open(command.endpoint);
  if (!program) return tl::unexpected(program.error());
  live::Endpoint& endpoint = (*program)->first();
  command.exchange.live = !command.endpoint.json && ::isatty(STDERR_FILENO) != 0;
  live::Result<std::unique_ptr<live::ControlClient>> peer = live::ControlClient::open(
      endpoint, *address, command.exchange.cm_port != 0 ? nlohmann::json{} : live::ControlSession::kAnyShard);
  if (!peer) return tl::unexpected(peer.error());
  runtime::print_note("ready", endpoint.description(), command.endpoint.json);
  std::unique_ptr<live::RdmaCm> cm;
  if (command.exchange.cm_port != 0) {
    live::Result<std::unique_ptr<live::RdmaCm>> opened = live::RdmaCm::open(endpoint);
    if (!opened) return tl::unexpected(opened.error());
    cm = std::move(*opened);
  }
  const Outcome<ExchangeResult> result = run_exchange(endpoint, **peer, command.exchange, cm.get());
  // An exchange that failed or was stopped has just ended its connections; this tells the peer.
  if (cm) cm->step(endpoint.now());
  const Outcome<void> closed = (*program)->close();
  if (!result) return tl::unexpected(result.error());
  return end(command, endpoint.description(), *result, *report, closed);
}

}  // namespace

Outcome<SizePlan> parse_sizes(const std::string& text) {
  SizePlan plan;
  plan.sizes.clear();
  const auto wrong = [&text] {
    return cannot(
        fmt::format("\"{}\" is no size; write 4096, 64k, 64,1024,4096 or 64-4096, each from 1 to 1024M", text));
  };
  if (const std::size_t dash = text.find('-'); dash != std::string::npos) {
    const auto from = parse_size(text.substr(0, dash));
    const auto to = parse_size(text.substr(dash + 1));
    if (!from || !to || *from > *to) return wrong();
    for (std::uint64_t size = *from; size < *to; size *= 2) plan.sizes.push_back(static_cast<std::uint32_t>(size));
    plan.sizes.push_back(*to);
    return plan;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto size = parse_size(text.substr(at, comma - at));
    if (!size) return wrong();
    plan.sizes.push_back(*size);
    at = comma + 1;
  }
  return plan;
}

command_line::Command add_exchange(command_line::Program& program, ExitCode& code, const std::string& name,
                                   const std::string& what, const std::shared_ptr<ExchangeCommand>& command) {
  command_line::Command subcommand = program.add_subcommand(name, what);
  ExchangeOptions& exchange = command->exchange;
  options::add_endpoint_options(subcommand, command->endpoint);
  options::add_shards_option(subcommand, command->endpoint);
  subcommand
      .add_option("target", command->target,
                  "The peer's control socket (a path with a /), or HOST:PORT of its control port")
      .required();
  subcommand.add_option("--token-file", command->token_file, "File with the secret of a peer on TCP").type_name("FILE");
  const bool atomic = exchange.kind == ExchangeKind::fetch_add;
  if (!atomic) {
    subcommand.add_option("-s,--size", command->sizes, "Bytes of a message: 4096, 64k, a list 64,1024, a range 64-4096")
        .capture_default_str();
  }
  subcommand.add_option("-n,--iters", exchange.count, "Messages on each queue pair")
      .range(std::uint64_t{1}, std::uint64_t{1} << 40)
      .capture_default_str();
  subcommand.add_option("-D,--duration", exchange.seconds, "Seconds to run, instead of a count").range(0.001, 1e6);
  subcommand.add_option("-q,--qps", exchange.qps, "Queue pairs").range(1U, 1000U).capture_default_str();
  subcommand.add_option("-t,--depth", exchange.depth, "Requests under way on each queue pair")
      .range(1U, 1024U)
      .capture_default_str();
  subcommand.add_option("-m,--mtu", exchange.path_mtu, "Path MTU (default: the largest that fits both interfaces)")
      .one_of({256U, 512U, 1024U, 2048U, 4096U});
  subcommand.add_option("--rate", command->rate, "Limit of all queue pairs together: 100G, 2.5Gbit, 100kpps")
      .type_name("RATE");
  subcommand.add_option("--timeout", exchange.timeout, "ACK timeout: 4.096 us * 2^N")
      .range(1, 31)
      .default_str(fmt::format("{}", exchange.timeout));
  subcommand.add_option("--cm", exchange.cm_port, "Connect the queue pairs by RDMA CM at this RDMA port of the peer")
      .type_name("PORT")
      .range(1, 65535)
      .excludes("--timeout");
  subcommand.add_option("--tos", exchange.traffic_class, "Traffic class: DSCP * 4 + ECN").range(0, 255);
  subcommand.add_option("--report", command->report, "Also write a page with the result to this file, for a browser")
      .type_name("FILE.html");
  subcommand.callback([command, &code] { code = command_line::ending_of("roce-gen", run(*command)); });
  return subcommand;
}

}  // namespace roce::gen
