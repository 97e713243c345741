// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/incast_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::FanInLoad;
using analysis::FanInSender;
using analysis::FanInSummary;
using analysis::Severity;

/// Fewer marked or lost packets than these show nothing about when they are marked or lost.
constexpr std::uint64_t kLeastHarmed = 10;
/// So many times as many of a byte's packets have to be harmed for a difference that is no chance.
constexpr double kMoreHarm = 2;
/// Where nearly all bytes come while several send, there is nothing to compare with.
constexpr double kNearlyAll = 0.9;

[[nodiscard]] double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

[[nodiscard]] std::string_view harm_text(const FanInLoad& load) {
  if (load.lost == 0) return "marked CE";
  return load.marked == 0 ? "lost" : "lost or marked CE";
}

class Judge {
 public:
  Judge(Duration window, const std::function<std::string(const Gid&)>& name) : window_(window), name_(name) {}

  void judge(const FanInSummary& host) {
    if (host.fullest.senders < 2) return;
    const FanInLoad all = host.all();
    const FanInLoad many = host.from(2);
    if (is_harmed_by_many(all, many)) {
      say(Severity::warning,
          fmt::format(
              "{}: {} of its packets were {} while 2 hosts or more sent to it within {}: {} of all that were, "
              "with {} of its bytes; up to {} sent at once. This is an incast: let fewer send at once or each of "
              "them less, or give the port to it more buffer",
              name_(host.destination), text::count_text(many.harmed()), harm_text(many),
              text::duration_text(window_.count()), text::percent_text(many.harmed(), all.harmed()),
              text::percent_text(many.bytes, all.bytes), host.fullest.senders));
    } else {
      say(Severity::note, fmt::format("{}: up to {} hosts send to it within {}{}", name_(host.destination),
                                      host.fullest.senders, text::duration_text(window_.count()),
                                      all.harmed() == 0 ? ", and none of its packets is lost or marked CE" : ""));
    }
    judge_senders(host, all);
  }

  [[nodiscard]] std::vector<Statement> statements() && {
    std::ranges::stable_sort(statements_, std::ranges::greater{}, &Statement::severity);
    return std::move(statements_);
  }

 private:
  void say(Severity severity, std::string text) { statements_.push_back({severity, std::move(text)}); }

  [[nodiscard]] static bool is_harmed_by_many(const FanInLoad& all, const FanInLoad& many) {
    if (many.harmed() < kLeastHarmed) return false;
    if (share(many.bytes, all.bytes) >= kNearlyAll) return true;
    const double alone = share(all.harmed() - many.harmed(), all.bytes - many.bytes);
    return share(many.harmed(), many.bytes) >= kMoreHarm * alone;
  }

  void judge_senders(const FanInSummary& host, const FanInLoad& all) {
    if (all.harmed() < kLeastHarmed) return;
    const auto worst =
        std::ranges::max_element(host.senders, {}, [](const FanInSender& sender) { return sender.load.harmed(); });
    if (share(worst->load.harmed(), all.harmed()) < kMoreHarm * share(worst->load.bytes, all.bytes)) return;
    say(Severity::note,
        fmt::format(
            "{}: {} suffers most: {} of the packets that were lost or marked CE are its own, with {} of the bytes",
            name_(host.destination), name_(worst->source), text::percent_text(worst->load.harmed(), all.harmed()),
            text::percent_text(worst->load.bytes, all.bytes)));
  }

  Duration window_;
  const std::function<std::string(const Gid&)>& name_;
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> statements_about_incast(std::span<const FanInSummary> destinations, Duration window,
                                               const std::function<std::string(const Gid&)>& name) {
  std::vector<const FanInSummary*> worst_first;
  for (const FanInSummary& host : destinations) worst_first.push_back(&host);
  std::ranges::stable_sort(worst_first, std::ranges::greater{},
                           [](const FanInSummary* host) { return host->from(2).harmed(); });
  Judge judge{window, name};
  for (const FanInSummary* host : worst_first) judge.judge(*host);
  return std::move(judge).statements();
}

}  // namespace roce::analyze
