// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "analyze/commands/commands.h"
#include "analyze/counters/counter_comparison.h"
#include "analyze/counters/counters_text.h"
#include "analyze/counters/host_counters.h"
#include "analyze/counters/nic_statistics.h"
#include "analyze/input/report.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze counters trace.pcap                              of each host, under the names of all three drivers
  roce-analyze counters --vendor mlx5 --host 192.0.2.7 --all trace.pcap
  roce-analyze counters --at 192.0.2.7 trace.pcap               the capture was taken at this host
  roce-analyze counters --at 192.0.2.7 --before a.json --compare b.json trace.pcap
  roce-analyze counters --json trace.pcap | jq '.host, .counters.rxe.out_of_seq_request'

A snapshot for --before and --compare, of the NIC that has the address:
  rdma -j statistic show link mlx5_0/1 > a.json
  grep . /sys/class/infiniband/rxe0/ports/1/hw_counters/* > a.txt)";

struct CountersOptions {
  AnalysisOptions common;
  std::string vendor_name;
  std::optional<NicVendor> vendor{};  ///< the vendor called `vendor_name`
  std::vector<std::string> hosts;
  std::vector<std::string> capture_points;
  std::string compare;
  std::string before;
  bool all = false;
};

/// Parses the addresses given to an option. Returns nothing if one of them is wrong, after reporting it.
std::optional<std::vector<AddressPattern>> parse_addresses(std::string_view option,
                                                           std::span<const std::string> texts) {
  std::vector<AddressPattern> patterns;
  for (const std::string& text : texts) {
    const auto pattern = AddressPattern::parse(text);
    if (!pattern || pattern->is_mac()) {
      report(fmt::format("{}: expected an IPv4 or IPv6 address such as 192.0.2.1 or 2001:db8::1, found '{}'", option,
                         text));
      return std::nullopt;
    }
    patterns.push_back(*pattern);
  }
  return patterns;
}

/// The NIC's counters to compare with.
struct Snapshots {
  NicStatistics after;
  std::optional<NicStatistics> before;
  NicVendor vendor{};
};

std::optional<Snapshots> load_snapshots(const CountersOptions& options) {
  Snapshots snapshots;
  auto after = load_nic_statistics(options.compare);
  if (!after) {
    report(after.error());
    return std::nullopt;
  }
  snapshots.after = *std::move(after);
  if (!options.before.empty()) {
    auto before = load_nic_statistics(options.before);
    if (!before) {
      report(before.error());
      return std::nullopt;
    }
    snapshots.before = *std::move(before);
    if (snapshots.before->link != snapshots.after.link && !snapshots.before->link.empty() &&
        !snapshots.after.link.empty()) {
      report(fmt::format("warning: '{}' is of {} and '{}' of {}", options.before, snapshots.before->link,
                         options.compare, snapshots.after.link));
    }
  }
  std::vector<std::string_view> names;
  names.reserve(snapshots.after.counters.size());
  for (const NicValue& value : snapshots.after.counters) names.push_back(value.name);
  const auto vendor = options.vendor ? options.vendor : vendor_of(names);
  if (!vendor) {
    report(
        fmt::format("{}: none of its {} names is a counter of mlx5, rxe or irdma; --vendor NAME compares all the same",
                    options.compare, names.size()));
    return std::nullopt;
  }
  snapshots.vendor = *vendor;
  return snapshots;
}

bool matches_any(std::span<const AddressPattern> patterns, const Gid& address) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const AddressPattern& pattern) { return pattern.matches(address); });
}

std::string list_of(std::span<const HostCounts> hosts) {
  constexpr std::size_t most = 20;
  std::vector<std::string> texts;
  for (const HostCounts& host : hosts.first(std::min(most, hosts.size()))) texts.push_back(to_string(host.address));
  if (hosts.size() > most) texts.push_back(fmt::format("and {} others", hosts.size() - most));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

/// Compares the counters of those hosts that are addresses of one NIC.
void show_compared(AnalysisSession& session, const CountersOptions& options, const Snapshots& snapshots,
                   std::span<const HostCounts> hosts) {
  std::vector<const HostCounts*> addresses;
  for (const HostCounts& host : hosts) {
    const bool is_chosen = !options.hosts.empty() || options.capture_points.empty() || host.is_capture_point;
    if (is_chosen) addresses.push_back(&host);
  }
  if (addresses.empty() || (addresses.size() > 1 && options.hosts.empty() && options.capture_points.empty())) {
    report(
        fmt::format("--compare: whose counters are these? --host ADDRESS says it; in the capture: {}", list_of(hosts)));
    session.fail(ExitCode::usage);
    return;
  }
  const HostCounts host = sum_of(addresses);
  const NicStatistics* before = snapshots.before ? &*snapshots.before : nullptr;
  const auto compared = compare(host, snapshots.vendor, snapshots.after, before);
  show_comparison(session, compared, {snapshots.vendor, options.all});
}

ExitCode run_counters(const CountersOptions& options) {
  AnalysisSession session{options.common};
  const auto wanted = parse_addresses("--host", options.hosts);
  const auto capture_points = parse_addresses("--at", options.capture_points);
  if (!wanted || !capture_points) return ExitCode::usage;
  std::optional<Snapshots> snapshots;
  if (!options.compare.empty()) {
    snapshots = load_snapshots(options);
    if (!snapshots) return ExitCode::failed;
  }
  if (!session.open()) return session.finish();
  HostCounters counters{*capture_points};
  analysis::TrackerOptions tracker;
  tracker.keep_answers = false;
  const AnalysisResult result = session.run(counters, tracker);
  std::vector<HostCounts> hosts = counters.finish(result);
  for (const auto& [option, patterns] : {std::pair{"--host", &*wanted}, std::pair{"--at", &*capture_points}}) {
    for (const AddressPattern& pattern : *patterns) {
      if (std::any_of(hosts.begin(), hosts.end(),
                      [&](const HostCounts& host) { return pattern.matches(host.address); })) {
        continue;
      }
      report(fmt::format("{} {}: the capture has no packet of it; in the capture: {}", option,
                         to_string(pattern.address()), list_of(hosts)));
      session.fail(ExitCode::usage);
      return session.finish();
    }
  }
  if (!wanted->empty()) {
    std::erase_if(hosts, [&](const HostCounts& host) { return !matches_any(*wanted, host.address); });
  }
  const CountersView view{options.vendor, options.all};
  if (snapshots) {
    show_compared(session, options, *snapshots, hosts);
  } else if (options.common.json) {
    show_counters_json(session, hosts, view);
  } else if (options.common.csv) {
    show_counters_csv(session, hosts, view);
  } else {
    show_counters_text(session, hosts, view);
  }
  return session.finish();
}

}  // namespace

void add_counters(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("counters", "The counters of the NICs, recomputed from the capture");
  const auto options = std::make_shared<CountersOptions>();
  add_common_options(command, options->common);
  command.add_flag("--csv", options->common.csv, "For programs: CSV").excludes("--json");
  std::vector<std::string> vendors;
  vendors.reserve(std::size(kNicVendors));
  for (const NicVendor vendor : kNicVendors) vendors.emplace_back(to_string(vendor));
  command.add_option("--vendor", options->vendor_name, "Only the counters of mlx5, rxe or irdma")
      .one_of(vendors, command_line::Listing::hidden)
      .type_name("NAME");
  command.add_option("--host", options->hosts, "Only this host; with --compare, several are addresses of one NIC")
      .type_name("ADDRESS")
      .allow_extra_args(false);
  command.add_option("--at", options->capture_points, "The capture was taken at the host with this address, on its NIC")
      .type_name("ADDRESS")
      .allow_extra_args(false);
  command_line::Option compare =
      command.add_option("--compare", options->compare, "Compare with these counters of the NIC").type_name("FILE");
  command.add_option("--before", options->before, "Its counters before the capture began, to be subtracted")
      .type_name("FILE")
      .needs(compare);
  command.add_flag("--all", options->all, "Also counters that are 0, and those that no capture can tell");
  command.footer(std::string{kExamples});
  options->common.mixes_points = true;
  command.callback([options, &code] {
    for (const NicVendor vendor : kNicVendors) {
      if (options->vendor_name == to_string(vendor)) options->vendor = vendor;
    }
    code = run_counters(*options);
  });
}

}  // namespace roce::analyze
