// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/wait_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::WaitFor;
using analysis::WaitSummary;

/// Requesters with fewer packets show no habit.
constexpr std::uint64_t kLeastRequests = 20;
/// So many requesters have a sentence; the rows have all.
constexpr std::size_t kMost = 5;

[[nodiscard]] std::string answers_text(const WaitSummary& requester) {
  std::string text = fmt::format("for answers, with up to {} PSNs under way", requester.most_under_way);
  if (requester.least_round_trip) {
    text += fmt::format(" and a round trip of {} or more", text::duration_text(requester.least_round_trip->count()));
  }
  return text + ": with more under way at once it would be faster, until a link is full";
}

[[nodiscard]] std::string_view text_of(WaitFor wait) {
  switch (wait) {
    case WaitFor::application:
      return "for its application: everything was answered, and there was nothing more to send";
    case WaitFor::credits:
      return "for credits: the responder had posted no further receives";
    case WaitFor::receiver:
      return "because of RNR NAKs: the responder had no receive posted";
    case WaitFor::losses:
      return "for what was lost to be sent again and answered";
    case WaitFor::pauses:
      return "because PFC or PAUSE frames of its link partner stopped it";
    case WaitFor::rate:
      return "at the rate that CNPs left it: the network was congested";
    case WaitFor::host:
      return "although requests were under way and nothing on the wire kept it from sending: its host, its NIC or a "
             "rate limit did";
    case WaitFor::nothing:
    case WaitFor::answers:
      break;
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
  std::vector<const WaitSummary*> largest;
  for (const WaitSummary& requester : requesters) {
    if (requester.requests >= kLeastRequests && requester.all() > Duration::zero()) largest.push_back(&requester);
  }
  std::ranges::stable_sort(largest, std::ranges::greater{}, &WaitSummary::payload);
  if (largest.size() > kMost) largest.resize(kMost);
  std::vector<Statement> statements;
  for (const WaitSummary* requester : largest) {
    const auto most = std::ranges::max_element(requester->times);
    const auto wait = static_cast<WaitFor>(most - requester->times.begin());
    const std::string share = text::percent_text(static_cast<std::uint64_t>(most->count()),
                                                 static_cast<std::uint64_t>(requester->all().count()));
    if (wait == WaitFor::nothing) {
      statements.push_back({Severity::note, fmt::format("{}: for {} of its time it sends, as fast as it ever does here",
                                                        name(*requester), share)});
      continue;
    }
    statements.push_back({severity_of(wait), fmt::format("{}: for {} of its time it waits {}", name(*requester), share,
                                                         wait == WaitFor::answers ? answers_text(*requester)
                                                                                  : std::string{text_of(wait)})});
  }
  std::ranges::stable_sort(statements, std::ranges::greater{}, &Statement::severity);
  return statements;
}

}  // namespace roce::analyze
