// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/never_worked.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/run/capture_ways.h"
#include "analyze/run/run_time.h"
#include "analyze/run/size_statements.h"
#include "analyze/run/undelivered.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::IcmpErrorSummary;
using analysis::NeighbourSummary;
using analysis::Severity;
using analysis::StreamSummary;
using analysis::Unanswered;

/// A request that was sent so many times was not lost by chance.
constexpr std::uint32_t kTries = 3;
/// A host that asks so many times in a row was not answered, whatever the capture lacks.
constexpr std::uint64_t kQuestions = 3;
/// Frames that are further from the tries in time have nothing to do with them.
constexpr Duration kBefore = std::chrono::seconds{10};
/// So many have a sentence.
constexpr std::size_t kMost = 3;

bool is_link_local(const Gid& gid) {
  constexpr std::uint8_t kIpv6First = 0xFE;
  constexpr std::uint8_t kIpv6Second = 0x80;
  constexpr std::uint8_t kIpv6Mask = 0xC0;
  const auto ipv4 = gid.ipv4().octets;
  return gid.is_ipv4_mapped() ? ipv4[0] == 169 && ipv4[1] == 254
                              : gid.octets[0] == kIpv6First && (gid.octets[1] & kIpv6Mask) == kIpv6Second;
}

using Host = std::pair<std::uint16_t, Gid>;  // capture point, address

struct Reason {
  std::string_view why;
  std::string text;
};

class Search {
 public:
  explicit Search(const JudgedPart& part) : part_(part), result_(part.result), ways_(part) {
    for (const StreamSummary& stream : part.streams) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (!stream.directions[i].seen) continue;
        Time& heard = heard_.try_emplace({stream.point, stream.ends[i]}, Time::min()).first->second;
        heard = std::max(heard, stream.directions[i].latest);
        versions_[{stream.point, stream.ends[i], stream.ends[1 - i]}] |= stream.version == RoceVersion::v1 ? kV1 : kV2;
      }
    }
  }

  [[nodiscard]] std::vector<NeverWorked> run() {
    for (const StreamSummary& stream : part_.streams) {
      if (stream.service != Service::rc) continue;
      for (std::size_t direction = 0; direction < 2; ++direction) judge(stream, direction);
    }
    std::vector<NeverWorked> all;
    all.reserve(found_.size());
    for (auto& [key, each] : found_) all.push_back(std::move(each));
    std::ranges::stable_sort(all, std::ranges::greater{}, &NeverWorked::connections);
    return all;
  }

 private:
  void judge(const StreamSummary& stream, std::size_t direction) {
    const analysis::DirectionSummary& requests = stream.directions[direction];
    if (requests.request_packets == 0 || answer_packets(stream.directions[1 - direction]) != 0) return;
    const Gid& from = stream.ends[direction];
    const Gid& to = stream.ends[1 - direction];
    const auto in_vain = std::ranges::find_if(stream.unanswered, [&](const analysis::UnansweredRequest& request) {
      return request.direction == direction && request.how == Unanswered::silence && request.tries >= kTries;
    });
    if (in_vain == stream.unanswered.end()) return;
    // Without another sign, the answers may be missing only here, or have come before the capture.
    const bool is_certain =
        !stream.is_open_start && (!in_vain->is_one_way || ways_.show_silence(stream.point, to, from));
    const std::optional<Reason> reason = find_reason(stream, *in_vain, from, to, is_certain);
    if (!reason) return;
    NeverWorked& each = found_[{stream.point, from, to, reason->why}];
    if (each.connections++ == 0) {
      each.from = from;
      each.to = to;
      each.point = stream.point;
      each.since = stream.start;
      each.why = reason->why;
      each.reason = reason->text;
    }
    each.since = std::min(each.since, stream.start);
    // Without an answer, only the communication manager names the QP of the requester.
    each.begin_is_seen = each.begin_is_seen && stream.qpns[direction].has_value();
    each.requests += requests.request_packets;
  }

  [[nodiscard]] std::optional<Reason> find_reason(const StreamSummary& stream,
                                                  const analysis::UnansweredRequest& in_vain, const Gid& from,
                                                  const Gid& to, bool is_certain) const {
    if (auto reason = of_icmp(stream, from, to)) return reason;
    if (auto reason = of_neighbours(stream, in_vain, to)) return reason;
    if (auto reason = of_version(stream, from, to)) return reason;
    if (!is_certain) return std::nullopt;
    if (is_link_local(from) != is_link_local(to)) {
      return Reason{
          "link_local",
          fmt::format("the GID of {} holds on its own link only, that of {} does not: choose the "
                      "same kind of GID at both (GID index)",
                      to_string(is_link_local(from) ? from : to), to_string(is_link_local(from) ? to : from))};
    }
    if (ways_.has_answers(stream.point, to, from)) {
      return Reason{"unknown",
                    "other connections of these two are answered, so that the way is good: check the QP of "
                    "the other side (its number, and that it is in RTR)"};
    }
    std::string text =
        "nothing in the capture says why: check the GID index of both, the route, and filters of UDP port 4791";
    // Those of earlier runs are not carried on, captured or not.
    const bool is_first_run = result_.earlier_files == 0 && result_.files_left_out == 0;
    if (is_first_run) {
      text += "; ARP and ICMP may say it, if they are captured too ('udp port 4791 or arp or icmp or icmp6')";
    }
    return Reason{"unknown", std::move(text)};
  }

  [[nodiscard]] std::optional<Reason> of_icmp(const StreamSummary& stream, const Gid& from, const Gid& to) const {
    if (stream.version == RoceVersion::v1) return std::nullopt;
    const IcmpErrorSummary* most = nullptr;
    const auto hosts = [](const IcmpErrorSummary& error) {
      return std::tuple{error.point, error.source, error.destination};
    };
    for (const IcmpErrorSummary& error :
         std::ranges::equal_range(result_.undelivered, std::tuple{stream.point, from, to}, {}, hosts)) {
      if (error.latest < stream.start || error.since > stream.end + kBefore) continue;
      if (most == nullptr || error.count > most->count) most = &error;
    }
    if (most == nullptr) return std::nullopt;
    if (most->why == Undelivered::port_unreachable && ways_.has_answers(stream.point, to, from)) return std::nullopt;
    return Reason{to_string(most->why), fmt::format("{}: {}", undelivered_text(*most), undelivered_advice(*most))};
  }

  /// Nobody answers those who look for the other host, at the time of the tries, and it sends nothing itself.
  [[nodiscard]] std::optional<Reason> of_neighbours(const StreamSummary& stream,
                                                    const analysis::UnansweredRequest& in_vain, const Gid& to) const {
    const Host host{stream.point, to};
    const auto address = [](const NeighbourSummary& each) { return Host{each.point, each.address}; };
    const auto asked = std::ranges::lower_bound(result_.neighbours, host, {}, address);
    if (asked == result_.neighbours.end() || address(*asked) != host) return std::nullopt;
    const analysis::NeighbourQuestions& row = asked->longest_row;
    if (row.count < kQuestions || row.end + kBefore < in_vain.begin || row.begin > in_vain.latest + kBefore) {
      return std::nullopt;
    }
    if (const auto heard = heard_.find(host); heard != heard_.end() && heard->second >= row.begin) return std::nullopt;
    return Reason{
        "no_neighbour",
        fmt::format("{} asked {} times in a row for the Ethernet address of {} ({}), and nobody answered: check "
                    "that {} is up, in this network and VLAN, and has this address",
                    to_string(row.asker), row.count, to_string(to), to.is_ipv4_mapped() ? "ARP" : "neighbour discovery",
                    to_string(to))};
  }

  /// The other host sends to this one, in a version that does not answer what this one sends.
  [[nodiscard]] std::optional<Reason> of_version(const StreamSummary& stream, const Gid& from, const Gid& to) const {
    const bool is_v1 = stream.version == RoceVersion::v1;
    const auto back = versions_.find({stream.point, to, from});
    if (back == versions_.end() || back->second != (is_v1 ? kV2 : kV1)) return std::nullopt;
    return Reason{
        "roce_version",
        fmt::format("{} sends RoCE {} and {} RoCE {}, which do not understand each other: choose a GID of the "
                    "same type at both (GID index)",
                    to_string(from), is_v1 ? "v1" : "v2", to_string(to), is_v1 ? "v2" : "v1")};
  }

  static constexpr unsigned kV1 = 1;
  static constexpr unsigned kV2 = 2;

  const JudgedPart& part_;
  const AnalysisResult& result_;
  CaptureWays ways_;
  std::map<Host, Time> heard_;                                        ///< time of the latest RoCE packet of each
  std::map<std::tuple<std::uint16_t, Gid, Gid>, unsigned> versions_;  ///< RoCE versions from one host to another
  std::map<std::tuple<std::uint16_t, Gid, Gid, std::string_view>, NeverWorked> found_;
};

Statement statement_of(const AnalysisResult& result, const NeverWorked& each) {
  Statement statement{
      Severity::error,
      fmt::format("{} to {} {}: {} of {} from {} on, and not one answer; {}", to_string(each.from), to_string(each.to),
                  each.begin_is_seen ? "never worked" : "does not work, and may never have",
                  text::counted(each.requests, "request packet", "request packets"),
                  text::counted(each.connections, "connection", "connections"), run_seconds(result, each.since),
                  each.reason),
      "never_worked",
      {}};
  statement.facts = {{"from", to_string(each.from)},           {"to", to_string(each.to)},
                     {"connections", each.connections},        {"requests", each.requests},
                     {"since_ns", run_ns(result, each.since)}, {"why", std::string{each.why}}};
  return statement;
}

}  // namespace

std::vector<NeverWorked> find_never_worked(const JudgedPart& part) {
  return Search{part}.run();
}

std::vector<Statement> statements_about_never_worked(const JudgedPart& part) {
  std::vector<NeverWorked> all = find_never_worked(part);
  std::vector<Statement> statements;
  if (all.empty()) return statements;
  // Where smaller packets arrive, it is their size.
  const std::set<std::pair<Gid, Gid>> of_size = hosts_that_lose_sizes(part);
  std::erase_if(all, [&](const NeverWorked& each) {
    return of_size.contains({each.from, each.to}) &&
           (each.why == "unknown" || each.why == to_string(Undelivered::too_big));
  });
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) statements.push_back(statement_of(part.result, all[i]));
  if (all.size() > kMost) {
    statements.push_back(
        {Severity::error, fmt::format("{} in which nothing was answered",
                                      text::counted(all.size() - kMost, "other direction between hosts",
                                                    "other directions between hosts"))});
  }
  return statements;
}

}  // namespace roce::analyze
