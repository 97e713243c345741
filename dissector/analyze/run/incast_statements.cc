// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/incast_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::FanInLoad;
using analysis::FanInSender;
using analysis::FanInSummary;
using analysis::Severity;
using analysis::VerdictKind;

/// Fewer marked or lost packets than these show nothing about when they are marked or lost.
constexpr std::uint64_t kLeastHarmed = 10;
/// Harm per byte has to be so many times higher to be no chance.
constexpr double kMoreHarm = 2;
/// Where nearly all bytes come while several send, there is nothing to compare with.
constexpr double kNearlyAll = 0.9;
/// A port that is never so full has no queue.
constexpr double kFullLink = 0.7;

/// A way in which packets fare badly at a full port.
struct Harm {
  std::uint64_t FanInLoad::*count = nullptr;
  const char* text = nullptr;
};
constexpr Harm kLost{&FanInLoad::lost, "lost"};
constexpr Harm kMarked{&FanInLoad::marked, "marked CE"};

[[nodiscard]] double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

class Judge {
 public:
  Judge(const IncastView& view, const std::function<std::string(const Gid&)>& name) : view_(view), name_(name) {}

  void judge(const FanInSummary& host) {
    if (host.fullest.senders < 2) return;
    const FanInLoad all = host.all();
    const FanInLoad many = host.from(2);
    // Where packets are lost, marks have told the senders too late.
    const Harm harm = all.lost >= kLeastHarmed ? kLost : kMarked;
    const std::string window = text::duration_text(view_.window.count());
    if (many.*harm.count < kLeastHarmed || !may_be_full(host)) {
      say(Severity::note, fmt::format("{}: up to {} hosts send to it within {}{}", name_(host.destination),
                                      host.fullest.senders, window,
                                      all.lost == 0 && all.marked == 0
                                          ? ", and none of its packets is lost or marked CE, as far as is seen here"
                                          : ""));
    } else if (share(many.bytes, all.bytes) >= kNearlyAll) {
      say(Severity::note,
          fmt::format(
              "{}: {} of its packets were {}, which may be an incast: nearly all its data comes while 2 hosts or "
              "more send to it within {}, up to {} at once",
              name_(host.destination), text::count_text(many.*harm.count), harm.text, window, host.fullest.senders));
    } else if (is_worse(all, many, harm)) {
      say(Severity::warning,
          fmt::format(
              "{}: {} of its packets were {} while 2 hosts or more sent to it within {}: {} of all that were, "
              "with {} of its bytes; up to {} sent at once. This is an incast: let fewer send at once or each of "
              "them less, or give the port to it more buffer",
              name_(host.destination), text::count_text(many.*harm.count), harm.text, window,
              text::percent_text(many.*harm.count, all.*harm.count), text::percent_text(many.bytes, all.bytes),
              host.fullest.senders));
    } else {
      say(Severity::note,
          fmt::format("{}: up to {} hosts send to it within {}, but its packets are {} as often while one does",
                      name_(host.destination), host.fullest.senders, window, harm.text));
    }
    judge_senders(host, all, harm);
  }

  [[nodiscard]] std::vector<Statement> statements() && {
    std::ranges::stable_sort(statements_, std::ranges::greater{}, &Statement::severity);
    return std::move(statements_);
  }

 private:
  void say(Severity severity, std::string text) { statements_.push_back({severity, std::move(text)}); }

  [[nodiscard]] bool may_be_full(const FanInSummary& host) const {
    const double bits_per_second =
        static_cast<double>(host.busiest.bytes) * 8e9 / static_cast<double>(view_.window.count());
    return bits_per_second >= kFullLink * static_cast<double>(view_.link_bits_per_second);
  }

  [[nodiscard]] static bool is_worse(const FanInLoad& all, const FanInLoad& many, Harm harm) {
    const double alone = share(all.*harm.count - many.*harm.count, all.bytes - many.bytes);
    return share(many.*harm.count, many.bytes) >= kMoreHarm * alone;
  }

  void judge_senders(const FanInSummary& host, const FanInLoad& all, Harm harm) {
    const FanInSender* worst = nullptr;
    for (const FanInSender& sender : host.senders) {
      if (sender.load.*harm.count < kLeastHarmed) continue;
      if (worst == nullptr ||
          share(sender.load.*harm.count, sender.load.bytes) > share(worst->load.*harm.count, worst->load.bytes)) {
        worst = &sender;
      }
    }
    if (worst == nullptr) return;
    if (share(worst->load.*harm.count, worst->load.bytes) < kMoreHarm * share(all.*harm.count, all.bytes)) return;
    say(Severity::note,
        fmt::format("{}: {} suffers most: {} of the packets that were {} are its own, with {} of the bytes",
                    name_(host.destination), name_(worst->source),
                    text::percent_text(worst->load.*harm.count, all.*harm.count), harm.text,
                    text::percent_text(worst->load.bytes, all.bytes)));
  }

  IncastView view_;
  const std::function<std::string(const Gid&)>& name_;
  std::vector<Statement> statements_;
};

}  // namespace

std::uint32_t packets_lost_by(const analysis::Verdict& verdict) {
  switch (verdict.kind) {
    // Perhaps it was the answer, which goes to another host.
    case VerdictKind::lost_beyond:
      return 0;
    case VerdictKind::unexplained:
      return verdict.psn_count;
    case VerdictKind::response_not_in_time:
      return 1;
    default:
      return verdict.lost_packets;
  }
}

std::vector<Statement> statements_about_incast(std::span<const FanInSummary> destinations, const IncastView& view,
                                               const std::function<std::string(const Gid&)>& name) {
  std::vector<const FanInSummary*> worst_first;
  for (const FanInSummary& host : destinations) worst_first.push_back(&host);
  std::ranges::stable_sort(worst_first, std::ranges::greater{}, [](const FanInSummary* host) {
    const FanInLoad many = host->from(2);
    return std::pair{many.lost, many.marked};
  });
  Judge judge{view, name};
  for (const FanInSummary* host : worst_first) judge.judge(*host);
  return std::move(judge).statements();
}

}  // namespace roce::analyze
