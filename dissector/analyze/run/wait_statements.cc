// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/wait_statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::WaitFor;
using analysis::WaitSummary;

/// Requesters with fewer request packets show no habit.
constexpr std::uint64_t kLeastRequests = 20;
/// So many requesters have a sentence; the rows have all.
constexpr std::size_t kMost = 5;
/// Packets that take so many times as long as the fastest one stand in a queue.
constexpr std::int64_t kQueueing = 3;

[[nodiscard]] std::string answers_text(const WaitSummary& requester) {
  std::string text = fmt::format("waits for answers, with up to {} PSNs under way", requester.most_under_way);
  if (!requester.least_round_trip) return text;
  const Duration least = *requester.least_round_trip;
  const Duration mean = requester.mean_round_trip;
  if (mean / kQueueing > least) {
    return text + fmt::format(
                      "; they take {} in the mean, and {} at best: a queue on the way or at the other end is "
                      "full, and more under way would only make it longer",
                      text::duration_text(mean.count()), text::duration_text(least.count()));
  }
  return text + fmt::format(
                    " and a round trip of {}: with more under way at once it would be faster, until a link is "
                    "full",
                    text::duration_text(least.count()));
}

[[nodiscard]] std::string text_of(WaitFor wait, const WaitSummary& requester) {
  switch (wait) {
    case WaitFor::nothing:
      return fmt::format("sends without a wait, {} in the mean",
                         text::bit_rate_text(8e9 * static_cast<double>(requester.payload) /
                                             static_cast<double>(requester.all().count())));
    case WaitFor::link:
      return "waits for its link, which other packets of its host keep busy";
    case WaitFor::answers:
      return answers_text(requester);
    case WaitFor::application:
      return "waits for its application, which has nothing more to send";
    case WaitFor::credits:
      return "waits for credits: the responder has posted no further receives";
    case WaitFor::receiver:
      return "is held up by RNR NAKs: the responder has no receive posted";
    case WaitFor::losses:
      return "waits for what was lost to be sent again and answered";
    case WaitFor::pauses:
      return "is stopped by PFC or PAUSE frames of its link partner";
    case WaitFor::rate:
      return "is held back by CNPs: the network is congested";
    case WaitFor::host:
      return "pauses within messages, for no reason on the wire: its host, its NIC or a rate limit holds it back";
  }
  return {};
}

[[nodiscard]] Severity severity_of(WaitFor wait) {
  const bool is_trouble =
      wait == WaitFor::losses || wait == WaitFor::receiver || wait == WaitFor::credits || wait == WaitFor::pauses;
  return is_trouble ? Severity::warning : Severity::note;
}

}  // namespace

std::vector<Statement> statements_about_waits(std::span<const WaitSummary> requesters,
                                              const std::function<std::string(const WaitSummary&)>& name) {
  const bool is_near = std::ranges::any_of(requesters, &WaitSummary::is_near);
  std::vector<const WaitSummary*> largest;
  for (const WaitSummary& requester : requesters) {
    if (requester.requests < kLeastRequests || requester.all() <= Duration::zero()) continue;
    if (requester.is_near == is_near) largest.push_back(&requester);
  }
  std::ranges::stable_sort(largest, std::ranges::greater{}, &WaitSummary::payload);
  if (largest.size() > kMost) largest.resize(kMost);
  std::vector<Statement> statements;
  if (!is_near && !largest.empty()) {
    statements.push_back({Severity::note,
                          "this is not the link of a single host, so that some of what the requesters wait for is not "
                          "seen here, or is seen later than they see it"});
  }
  for (const WaitSummary* requester : largest) {
    const auto most = std::ranges::max_element(requester->times);
    const auto wait = static_cast<WaitFor>(most - requester->times.begin());
    const std::string share = text::percent_text(static_cast<std::uint64_t>(most->count()),
                                                 static_cast<std::uint64_t>(requester->all().count()));
    statements.push_back({severity_of(wait), fmt::format("{}: for {} of its time it {}", name(*requester), share,
                                                         text_of(wait, *requester))});
  }
  std::ranges::stable_sort(statements, std::ranges::greater{}, &Statement::severity);
  return statements;
}

}  // namespace roce::analyze
