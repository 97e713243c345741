// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/run/field_match.h"

namespace roce::conform {

namespace {

// A case of more is a mistake, which would otherwise run for hours.
constexpr std::uint64_t kMostWork = 1'000'000;

}  // namespace

std::string frame_text(const SeenFrame& frame) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  return fmt::format("{} PSN {}", frame_name(packet), packet.bth().psn.value());
}

std::string_view to_string(Result result) {
  switch (result) {
    case Result::pass:
      return "pass";
    case Result::fail:
      return "fail";
    case Result::xfail:
      return "xfail";
    case Result::xpass:
      return "xpass";
    case Result::skip:
      return "skip";
    case Result::error:
      return "error";
    case Result::dead:
      return "dead";
    case Result::not_run:
      return "not_run";
    case Result::inconclusive:
      return "inconclusive";
  }
  return "";
}

CaseRun::CaseRun(Target& target, const Instance& instance, std::uint64_t seed, const Timing& timing)
    : target_(target),
      instance_(instance),
      timing_(timing),
      bed_(target, instance, seed),
      is_wire_only_(!target.has("agent")),
      last_(target.now()) {}

CaseOutcome CaseRun::run() {
  try {
    run_case();
  } catch (const DeviceGone& gone) {
    fail(Place{.file = instance_.of->place.file, .line = line_, .column = 1}, gone.what());
    outcome_.result = Result::dead;
    outcome_.damage = gone.damage();
  }
  outcome_.lost_frames = target_.lost_frames();
  if (unseen_steps_ != 0)
    outcome_.saved.emplace_back("seen on the wire only, steps not run", std::to_string(unseen_steps_));
  return std::move(outcome_);
}

void CaseRun::run_case() {
  if (const CaseResult<void> made = bed_.set_up(*this); !made) {
    give_up(made.error());
    return;
  }
  if (instance_.of->reads_counters() && !target_.counters().empty()) {
    // Counts of what came before may be written only now.
    const Time until = target_.now() + timing_.late;
    while (wait_for_frame(until)) {
    }
    if (outcome_.failure) return;
    counters_ = target_.counters();
  }
  if (run_steps(instance_.of->steps)) (void)finish();
}

CaseRun::Verdict CaseRun::fail(const Place& place, std::string what, std::vector<Comparison> fields) {
  outcome_.result = Result::fail;
  outcome_.failure = StepFailure{place, std::move(what), std::move(fields)};
  return false;
}

CaseRun::Verdict CaseRun::miss(const Place& place, std::string what) {
  fail(place, std::move(what));
  outcome_.failure->is_silence = true;
  return false;
}

CaseRun::Verdict CaseRun::be_late(const Place& place, std::string what) {
  outcome_.was_late = true;
  return fail(place, std::move(what));
}

CaseRun::Verdict CaseRun::give_up(CaseError error) {
  outcome_.result = Result::error;
  outcome_.failure = StepFailure{std::move(error.place), std::move(error.message)};
  return false;
}

std::optional<Value> CaseRun::find(std::string_view name) const {
  if (const auto value = values_.find(name); value != values_.end()) return value->second;
  if (std::optional<Value> value = instance_.find(name)) return value;
  if (std::optional<Value> value = bed_.find(name)) return value;
  const std::size_t dot = name.find('.');
  const auto label = labels_.find(name.substr(0, dot));
  if (dot == std::string_view::npos || label == labels_.end() || label->second.frame.empty()) return std::nullopt;
  const Packet packet = parse_frame(label->second.frame, LinkType::ethernet);
  return field_value(packet, std::string{name.substr(dot + 1)});
}

CaseRun::Verdict CaseRun::run_steps(const std::vector<Step>& steps) {
  return std::ranges::all_of(steps, [this](const Step& step) { return run_step(step); });
}

CaseRun::Verdict CaseRun::count_work(const Place& place) {
  return ++work_ <= kMostWork || give_up({place, fmt::format("more than {} steps and frames", kMostWork)});
}

CaseRun::Verdict CaseRun::run_step(const Step& step) {
  line_ = step.place.line;
  if (!count_work(step.place)) return false;
  if (is_wire_only_) {
    if (const std::optional<Verdict> done = run_on_wire_only(step)) return *done;
  }
  if (!std::visit([&](const auto& action) { return run_action(action, step); }, step.action)) return false;
  if (!step.label.empty()) labels_[step.label].times.push_back(last_);
  return true;
}

CaseRun::Verdict CaseRun::finish() {
  const Place& place = instance_.of->steps.back().place;
  while (wait_for_frame(target_.now() + timing_.quiet)) {
  }
  if (outcome_.failure) return false;
  for (auto& [name, qp] : bed_.qps()) {
    if (qp.waiting.empty()) continue;
    return fail(place, fmt::format("unexpected frame after the last step: {}", frame_text(qp.waiting.front())));
  }
  if (is_wire_only_) return true;
  if (const std::optional<std::string> change = bed_.find_change()) return fail(place, *change);
  return true;
}

// Values.

std::optional<std::uint64_t> CaseRun::number(const Expression& expression, const Place& place) {
  const Evaluated<std::uint64_t> value = expression.number(*this);
  if (value) return *value;
  give_up({place, value.error()});
  return std::nullopt;
}

std::optional<Duration> CaseRun::duration(const std::optional<Expression>& expression, Duration otherwise,
                                          const Place& place) {
  if (!expression) return otherwise;
  const std::optional<std::uint64_t> value = number(*expression, place);
  if (!value) return std::nullopt;
  // A day: later than any timer of a QP, and far from the end of the clock.
  constexpr std::uint64_t most = 86'400'000'000'000;
  if (*value <= most) return Duration{static_cast<std::int64_t>(*value)};
  give_up({place, fmt::format("'{}' is {} ns, more than a day", expression->text(), *value)});
  return std::nullopt;
}

PeerQp* CaseRun::qp_of(const std::string& name, const Place& place) {
  PeerQp* qp = bed_.find_qp(name);
  if (qp == nullptr) give_up({place, fmt::format("there is no QP {}", name)});
  return qp;
}

PeerQp* CaseRun::own_qp_of(const std::string& name, const Place& place) {
  if (name != kGsiQp) return qp_of(name, place);
  give_up({place, "QP1 is the device's own: a case sends frames to it, and expects frames from it"});
  return nullptr;
}

}  // namespace roce::conform
