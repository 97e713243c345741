// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/dead_connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/run/capture_ways.h"
#include "analyze/run/run_time.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::StreamSummary;
using analysis::Unanswered;
using analysis::UnansweredRequest;

// A requester that has not tried again for this many times its longest wait has given up: an adaptive one doubles it.
constexpr int kWaits = 3;
// A request that was sent again once may just have been lost when the capture ended.
constexpr std::uint32_t kFewTries = 2;
// An answer that has not come for so long is not just slow.
constexpr Duration kSlowAnswer = std::chrono::milliseconds{100};

/// Returns the time from the latest try to the end of the capture, both by the clock of its capture point.
Duration time_left(const AnalysisResult& result, const StreamSummary& stream, const UnansweredRequest& request) {
  const std::int64_t latest = request.latest.time_since_epoch().count();
  // An observation's time is within these bounds, too.
  constexpr std::int64_t kFarthest = std::int64_t{1} << 62U;
  const std::int64_t end = stream.point < result.points.size()
                               ? std::clamp(result.points[stream.point].last_ns, -kFarthest, kFarthest)
                               : latest;
  return Duration{std::max<std::int64_t>(end - latest, 0)};
}

ConnectionEnd end_of(const UnansweredRequest& request, bool is_one_way, Duration left) {
  const bool has_given_up = request.wait != Duration{} && left / kWaits >= request.wait;
  switch (request.how) {
    case Unanswered::silence:
      if (is_one_way) return has_given_up ? ConnectionEnd::died_or_unseen : ConnectionEnd::unknown;
      if (has_given_up) return ConnectionEnd::died;
      return request.tries > kFewTries ? ConnectionEnd::unanswered : ConnectionEnd::last_unanswered;
    case Unanswered::not_ready:
      return has_given_up ? ConnectionEnd::refused_by_rnr : ConnectionEnd::unanswered;
    case Unanswered::answers_lost:
      return has_given_up ? ConnectionEnd::last_unanswered : ConnectionEnd::unknown;
    case Unanswered::sent_once:
      return left >= kSlowAnswer ? ConnectionEnd::last_unanswered : ConnectionEnd::unknown;
  }
  return ConnectionEnd::unknown;
}

std::string timeout_text(const UnansweredRequest& request) {
  if (request.ack_timeout == 0) return "";
  return fmt::format(", ACK timeout {} ({})", request.ack_timeout,
                     text::duration_text(std::int64_t{4096} << request.ack_timeout));
}

std::string describe(const AnalysisResult& result, const StreamSummary& stream, const UnansweredRequest& request,
                     ConnectionEnd end) {
  const std::string requester = to_string(stream.ends[request.direction]);
  const std::string responder = to_string(stream.ends[1 - request.direction]);
  const auto seconds = [&](Time time) { return run_seconds(result, time); };
  const std::string what = fmt::format("{} PSN {}", opcode_info(request.opcode).name, request.psn.value());
  const std::string tried = text::duration_text((request.latest - request.begin).count());
  const std::string left = text::duration_text(time_left(result, stream, request).count());
  std::string head = fmt::format("stream {}: ", stream.stream);
  switch (request.how) {
    case Unanswered::silence:
      return head + fmt::format(
                        "{} has been silent since {}: {} of {} sent {} times in {}{}, {} {}; {} more to the end "
                        "of the capture",
                        responder, seconds(request.since), what, requester, request.tries, tried, timeout_text(request),
                        end == ConnectionEnd::died || end == ConnectionEnd::died_or_unseen ? "retry count"
                                                                                           : "retry count at least",
                        request.tries - 1, left);
    case Unanswered::not_ready:
      return head + fmt::format(
                        "{} had no receive posted from {} on: {} of {} refused {} in {}, {} {}; {} more to the "
                        "end of the capture",
                        responder, seconds(request.begin), what, requester,
                        text::counted(request.refusals, "time", "times"), tried,
                        end == ConnectionEnd::unanswered ? "RNR retry count at least" : "RNR retry count",
                        request.refusals - 1, left);
    case Unanswered::answers_lost:
      return head + fmt::format(
                        "{} sent {} {} times in {}{}, though {} answered here; those answers were lost, the last "
                        "one perhaps as well; {} more to the end of the capture",
                        requester, what, request.tries, tried, timeout_text(request), responder, left);
    case Unanswered::sent_once:
      return head + fmt::format(
                        "{} owes {} an answer to {} since {}, {} before the end of the capture; it was not sent "
                        "again here",
                        responder, requester, what, seconds(request.since), left);
  }
  return head;
}

}  // namespace

std::vector<DeadConnection> find_dead_connections(const JudgedPart& part) {
  const AnalysisResult& result = part.result;
  std::vector<DeadConnection> all;
  std::optional<CaptureWays> ways;
  for (const StreamSummary& stream : part.streams) {
    for (const UnansweredRequest& request : stream.unanswered) {
      if (request.is_one_way && !ways) ways.emplace(part);
      const bool is_one_way =
          request.is_one_way &&
          !ways->show_silence(stream.point, stream.ends[1 - request.direction], stream.ends[request.direction]);
      const ConnectionEnd end = end_of(request, is_one_way, time_left(result, stream, request));
      if (end == ConnectionEnd::unknown) continue;
      all.push_back({end, stream.stream, stream.ends[request.direction], stream.ends[1 - request.direction],
                     request.since, request.latest, request.how == Unanswered::silence,
                     describe(result, stream, request, end)});
      break;
    }
  }
  return all;
}

HeardHosts heard_hosts(const JudgedPart& part) {
  HeardHosts heard;
  for (const StreamSummary& stream : part.streams) {
    for (const std::size_t end : {0U, 1U}) {
      const analysis::DirectionSummary& counts = stream.directions[end];
      if (!counts.seen) continue;
      const auto [place, is_new] = heard.emplace(stream.ends[end], counts.latest);
      if (!is_new) place->second = std::max(place->second, counts.latest);
    }
  }
  return heard;
}

std::optional<std::string> common_host_text(std::span<const DeadConnection> dead, const HeardHosts& heard) {
  constexpr Duration kTogether = std::chrono::seconds{1};
  struct Host {
    std::uint64_t connections = 0;
    std::set<Gid> others;
  };
  std::map<Gid, Host> hosts;
  std::uint64_t all = 0;
  Time first = Time::max();
  Time last = Time::min();
  Time first_try = Time::max();
  for (const DeadConnection& each : dead) {
    // Where a direction is not in the capture, the silence may be the capture's.
    if (!each.is_silent || each.end == ConnectionEnd::died_or_unseen) continue;
    ++all;
    first = std::min(first, each.since);
    last = std::max(last, each.since);
    first_try = std::min(first_try, each.latest);
    for (const auto& [host, other] : {std::pair{each.requester, each.responder}, {each.responder, each.requester}}) {
      ++hosts[host].connections;
      hosts[host].others.insert(other);
    }
  }
  for (const auto& [gid, host] : hosts) {
    if (host.connections != all || host.others.size() < 2 || last - first > kTogether) continue;
    // Its other connections go on: it, and its link, are there.
    const auto latest = heard.find(gid);
    if (latest != heard.end() && latest->second > first_try) continue;
    return fmt::format(
        "all {} of these are connections of {}, with {} hosts, and fell silent within {}: this host or its "
        "link went away, or the process that owned its QPs ended, not a connection",
        text::count_text(all), to_string(gid), host.others.size(), text::duration_text((last - first).count()));
  }
  return std::nullopt;
}

}  // namespace roce::analyze
