// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/silent_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/run/run_time.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::NeighbourSummary;
using analysis::Severity;
using analysis::StreamSummary;
using analysis::Unanswered;

/// A shorter silence may be a few lost packets.
constexpr Duration kLeast = std::chrono::milliseconds{100};
/// A host that is back announces itself within this time, or is asked for.
constexpr Duration kBack = std::chrono::seconds{10};
constexpr std::uint32_t kTries = 2;
constexpr std::size_t kMost = 3;

using Host = std::pair<std::uint16_t, Gid>;  // capture point, address

/// An end of a stream that did not answer for a while.
struct Silence {
  const StreamSummary* stream = nullptr;
  std::size_t end_of_stream = 0;
  Time begin{};
  Time end = Time::max();  ///< max: it was not heard any more
};

/// A host that fell silent on all of its connections.
struct SilentHost {
  Host host{};
  Time begin{};
  Time end{};
  std::vector<const StreamSummary*> streams;
  std::set<Gid> others;
  std::string sign;  ///< of its return
};

class Search {
 public:
  explicit Search(const JudgedPart& part) : result_(part.result) {
    for (const StreamSummary& stream : part.streams) {
      for (std::size_t end = 0; end < 2; ++end) {
        if (stream.directions[end].seen) streams_[{stream.point, stream.ends[end]}].push_back({&stream, end});
        if (stream.service == Service::rc) add_silences(stream, end);
      }
    }
  }

  [[nodiscard]] std::vector<SilentHost> run() {
    std::vector<SilentHost> found;
    while (found.size() < kMost) {
      std::optional<SilentHost> worst;
      for (const auto& [host, silences] : silences_) {
        auto each = judge(host, silences);
        if (each && (!worst || each->streams.size() > worst->streams.size())) worst = std::move(each);
      }
      if (!worst) break;
      explained_.insert(worst->streams.begin(), worst->streams.end());
      found.push_back(std::move(*worst));
    }
    return found;
  }

 private:
  void add_silences(const StreamSummary& stream, std::size_t end) {
    const analysis::DirectionSummary& counts = stream.directions[end];
    if (!counts.seen) return;
    std::vector<Silence>& silences = silences_[{stream.point, stream.ends[end]}];
    if (counts.missed->length() >= kLeast) silences.push_back({&stream, end, counts.missed->begin, counts.missed->end});
    for (const analysis::UnansweredRequest& request : stream.unanswered) {
      if (request.direction == end || request.how != Unanswered::silence || request.tries < kTries) continue;
      if (request.latest >= counts.latest + kLeast) silences.push_back({&stream, end, counts.latest});
    }
  }

  /// Returns the time at which most connections of the host were silent together.
  [[nodiscard]] std::optional<SilentHost> judge(const Host& host, const std::vector<Silence>& all) const {
    std::vector<std::pair<Time, int>> changes;
    for (const Silence& each : all) {
      if (explained_.contains(each.stream)) continue;
      changes.emplace_back(each.begin, 1);
      changes.emplace_back(each.end, -1);
    }
    std::ranges::sort(changes);
    int silent = 0;
    int most = 0;
    SilentHost found;
    found.host = host;
    for (const auto& [time, change] : changes) {
      silent += change;
      if (silent <= most) continue;
      most = silent;
      found.begin = time;
    }
    if (most < 2) return std::nullopt;
    found.end = Time::max();
    for (const Silence& each : all) {
      if (explained_.contains(each.stream) || each.begin > found.begin || each.end <= found.begin) continue;
      found.end = std::min(found.end, each.end);
      found.streams.push_back(each.stream);
      found.others.insert(each.stream->ends[1 - each.end_of_stream]);
    }
    if (found.end != Time::max() && found.end - found.begin < kLeast) return std::nullopt;
    if (spoke(found) || answers_questions(found) || was_paused(found)) return std::nullopt;
    found.sign = sign_of_return(found);
    if (found.others.size() < 2 && found.sign.empty()) return std::nullopt;
    return found;
  }

  /// True if the host sent anything in the middle of its silence.
  [[nodiscard]] bool spoke(const SilentHost& silent) const {
    return std::ranges::any_of(streams_.at(silent.host), [&](const auto& place) {
      const auto& [stream, end] = place;
      const analysis::DirectionSummary& counts = stream->directions[end];
      if (counts.latest <= silent.begin) return false;
      if (counts.latest < silent.end) return true;
      if (stream->start >= silent.end) return false;
      if (stream->start > silent.begin) return end == 0;
      return counts.longest_quiet < silent.end - silent.begin;
    });
  }

  [[nodiscard]] const NeighbourSummary* find_neighbour(const Host& host) const {
    const auto address = [](const NeighbourSummary& each) { return Host{each.point, each.address}; };
    const auto found = std::ranges::lower_bound(result_.neighbours, host, {}, address);
    return found == result_.neighbours.end() || address(*found) != host ? nullptr : &*found;
  }

  /// True if only its QPs are silent, for ever: the host itself sends ARP or neighbour discovery.
  [[nodiscard]] bool answers_questions(const SilentHost& silent) const {
    if (silent.end != Time::max()) return false;
    const NeighbourSummary* const found = find_neighbour(silent.host);
    return found != nullptr && found->heard && *found->heard - silent.begin >= kLeast;
  }

  /// True if a station at this point stopped others for long at that time: then it was not the host.
  [[nodiscard]] bool was_paused(const SilentHost& silent) const {
    return std::ranges::any_of(result_.pauses, [&](const analysis::PauseSummary& station) {
      return station.point == silent.host.first &&
             std::ranges::any_of(station.counts, [&](const analysis::PauseCounts& counts) {
               const analysis::PauseRun& run = counts.longest_run;
               return run.length >= kLeast && run.begin <= silent.end && silent.begin - run.begin <= run.length;
             });
    });
  }

  [[nodiscard]] std::string sign_of_return(const SilentHost& silent) const {
    if (silent.end == Time::max()) return {};
    const NeighbourSummary* const found = find_neighbour(silent.host);
    if (found == nullptr) return {};
    const auto is_then = [&](Time time) { return time >= silent.begin && time - silent.end <= kBack; };
    if (found->before && found->mac && is_then(found->moved)) {
      return fmt::format("it came back with the MAC address {} instead of {}", to_string(*found->mac),
                         to_string(*found->before));
    }
    if (found->announcements != 0 && is_then(found->announced)) {
      return fmt::format("it announced its address again at {}", run_seconds(result_, found->announced));
    }
    return {};
  }

  const AnalysisResult& result_;
  std::map<Host, std::vector<std::pair<const StreamSummary*, std::size_t>>> streams_;
  std::map<Host, std::vector<Silence>> silences_;
  std::set<const StreamSummary*> explained_;
};

Statement statement_of(const AnalysisResult& result, const SilentHost& silent) {
  const bool is_back = silent.end != Time::max();
  const std::string since = run_seconds(result, silent.begin);
  const std::string when = is_back
                               ? fmt::format("was silent from {} to {} ({})", since, run_seconds(result, silent.end),
                                             text::duration_text((silent.end - silent.begin).count()))
                               : fmt::format("has been silent since {}", since);
  Statement statement{
      Severity::error,
      fmt::format("{} {}, on all {} that had requests for it, with {}{}{}: this host or its link went away{}, not a "
                  "connection; look for link changes of its port, failover and restarts at that time",
                  to_string(silent.host.second), when,
                  text::counted(silent.streams.size(), "connection", "connections"),
                  text::counted(silent.others.size(), "host", "hosts"), silent.sign.empty() ? "" : "; ", silent.sign,
                  is_back ? "" : ", or the process that owned its QPs ended"),
      "host_silent",
      {}};
  statement.facts = {{"host", to_string(silent.host.second)},
                     {"since_ns", run_ns(result, silent.begin)},
                     {"connections", std::uint64_t{silent.streams.size()}},
                     {"hosts", std::uint64_t{silent.others.size()}}};
  if (is_back) statement.facts.push_back({"until_ns", run_ns(result, silent.end)});
  if (!silent.sign.empty()) statement.facts.push_back({"sign", silent.sign});
  return statement;
}

}  // namespace

std::vector<Statement> statements_about_silent_hosts(const JudgedPart& part) {
  std::vector<Statement> statements;
  for (const SilentHost& silent : Search{part}.run()) statements.push_back(statement_of(part.result, silent));
  return statements;
}

}  // namespace roce::analyze
