// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/undelivered.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyze/run/capture_ways.h"
#include "analyze/run/dead_connections.h"
#include "analyze/run/never_worked.h"
#include "analyze/run/run_time.h"
#include "analyze/run/size_statements.h"
#include "roce/wire/path_mtu.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::IcmpErrorSummary;
using analysis::Severity;

Statement statement_of(const AnalysisResult& result, const IcmpErrorSummary& error, Severity severity,
                       std::string_view more) {
  Statement statement{
      severity,
      fmt::format("{} to {}: {} from {} on{}: {}", to_string(error.source), to_string(error.destination),
                  undelivered_text(error), run_seconds(result, error.since), more, undelivered_advice(error)),
      "undelivered",
      {}};
  statement.facts = {{"from", to_string(error.source)},
                     {"to", to_string(error.destination)},
                     {"why", std::string{to_string(error.why)}},
                     {"reporter", to_string(error.reporter)},
                     {"times", error.count},
                     {"since_ns", run_ns(result, error.since)}};
  if (error.mtu != 0) statement.facts.push_back({"mtu", std::uint64_t{error.mtu}});
  return statement;
}

}  // namespace

std::string undelivered_text(const IcmpErrorSummary& error) {
  std::string text =
      fmt::format("{} {} from {}, {}", error.source.is_ipv4_mapped() ? "ICMP" : "ICMPv6", to_string(error.why),
                  to_string(error.reporter), text::counted(error.count, "time", "times"));
  if (error.why == Undelivered::too_big) {
    text += fmt::format(" (the smallest is {} bytes{})", error.least,
                        error.mtu == 0 ? "" : fmt::format(", the MTU there {}", error.mtu));
  }
  return text;
}

std::string undelivered_advice(const IcmpErrorSummary& error) {
  const std::string host = to_string(error.destination);
  switch (error.why) {
    case Undelivered::no_route:
      return fmt::format("give {} a route to {}, or choose a GID of a network that has one", to_string(error.reporter),
                         host);
    case Undelivered::host_unreachable:
      return fmt::format(
          "{} does not answer on its own network: check its link, its VLAN, and whether it has this "
          "address",
          host);
    case Undelivered::port_unreachable:
      // A rule of iptables with REJECT says the same, wherever it is.
      if (error.reporter != error.destination) {
        return fmt::format("a filter at {} rejects it: let UDP port 4791 through there", to_string(error.reporter));
      }
      return fmt::format(
          "nothing takes RoCE v2 at {}: check that the RDMA driver is loaded there, that the GID is one of the RNIC "
          "and "
          "not of another interface, and that no filter there rejects UDP port 4791",
          host);
    case Undelivered::prohibited:
      return "let UDP port 4791 through the filter there";
    case Undelivered::beyond_scope:
      return fmt::format(
          "the GID of {} holds on its own link only: choose one there that is not link-local (GID index)",
          to_string(error.source));
    case Undelivered::too_big:
      return error.mtu == 0
                 ? "use a smaller path MTU, or a larger MTU on each link"
                 : fmt::format("use a path MTU of {} bytes, or a larger MTU on this link", largest_path_mtu(error.mtu));
    case Undelivered::expired:
      return "look for a routing loop, or give the packets a larger hop limit (traffic class and hop limit of the "
             "address handle)";
  }
  return {};
}

std::vector<Statement> statements_about_undelivered(const JudgedPart& part) {
  const AnalysisResult& result = part.result;
  std::vector<Statement> statements;
  if (result.undelivered.empty()) return statements;
  const CaptureWays ways{part};
  using Hosts = std::pair<Gid, Gid>;
  std::set<Hosts> dead;
  for (const DeadConnection& each : find_dead_connections(part)) {
    if (each.end != ConnectionEnd::refused_by_rnr) dead.emplace(each.requester, each.responder);
  }
  std::set<Hosts> told;
  for (const NeverWorked& each : find_never_worked(part)) told.emplace(each.from, each.to);
  const std::set<Hosts> of_size = hosts_that_lose_sizes(part);
  for (const IcmpErrorSummary& error : result.undelivered) {
    if ((part.point && error.point != *part.point) || told.contains({error.source, error.destination})) continue;
    if (error.why == Undelivered::too_big && of_size.contains({error.source, error.destination})) continue;
    if (dead.contains({error.source, error.destination})) {
      statements.push_back(statement_of(result, error, Severity::error, ""));
    } else if (error.why == Undelivered::port_unreachable &&
               ways.has_answers(error.point, error.destination, error.source)) {
      // A program that takes packets from the interface itself leaves them to its kernel, too.
      statements.push_back(
          {Severity::note,
           fmt::format("{} to {}: {}, though requests are answered: its kernel does not know who takes "
                       "them",
                       to_string(error.source), to_string(error.destination), undelivered_text(error))});
    } else {
      statements.push_back(statement_of(result, error, Severity::warning, ""));
    }
  }
  std::ranges::stable_sort(statements, std::ranges::greater{}, &Statement::severity);
  return statements;
}

}  // namespace roce::analyze
