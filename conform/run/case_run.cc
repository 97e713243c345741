// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conform/run/field_match.h"
#include "conform/run/pattern_frames.h"

namespace roce::conform {

namespace {

// A case of more is a mistake, which would otherwise run for hours.
constexpr std::uint64_t kMostRepeats = 100'000;
constexpr std::uint64_t kMostWork = 1'000'000;

std::string time_text(Duration time) {
  return fmt::format("{:.3f} ms", static_cast<double>(time.count()) / 1e6);
}

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
  if (instance_.of->reads_counters()) counters_ = target_.counters();
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
  if (!step.label.empty()) labels_[step.label].time = last_;
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

// Frames.

CaseRun::Verdict CaseRun::send(const FrameSpec& frame, const Step& step) {
  const PeerQp* qp = qp_of(frame.on, frame.place);
  if (qp == nullptr) return false;
  const std::optional<std::uint64_t> times = frame.times ? repeats(*frame.times, frame.place) : 1;
  if (!times) return false;
  if (*times == 0) return true;
  CaseResult<std::vector<std::byte>> bytes = make_frame(frame, bed_.defaults_for(*qp), qp->port, *this);
  if (!bytes) return give_up(bytes.error());
  const Packet packet = parse_frame(*bytes, LinkType::ethernet);
  if (is_wire_only_) check_carried_out(*qp, packet);
  if (!target_.may_send(*bytes)) {
    outcome_.result = Result::skip;
    outcome_.lacks = "leave to send frames to other addresses than the device's";
    return false;
  }
  for (std::uint64_t i = 0; i < *times; ++i) {
    if (!count_work(frame.place)) return false;
    outcome_.frames.push_back({target_.now(), false, *bytes, line_});
    monitor_.take_sent(parse_frame(*bytes, LinkType::ethernet), target_.now());
    target_.send(*bytes);
  }
  remember(step, *bytes);
  return true;
}

void CaseRun::remember(const Step& step, const std::vector<std::byte>& bytes) {
  if (!step.label.empty()) labels_[step.label].frame = bytes;
}

CaseRun::Verdict CaseRun::run_action(const Inject& action, const Step& step) {
  last_ = target_.now();
  return std::ranges::all_of(action.frames, [&](const FrameSpec& frame) { return send(frame, step); });
}

bool CaseRun::wait_for_frame(Time until) {
  std::optional<SeenFrame> frame = target_.receive(until);
  if (!frame) return false;
  outcome_.frames.push_back({frame->time, true, frame->bytes, line_});
  const Place place = {.file = instance_.of->place.file, .line = line_, .column = 1};
  const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
  PeerQp* qp = bed_.find_peer(packet.bth().dest_qp);
  if (const auto deviation = monitor_.judge(packet, qp != nullptr ? qp->port : target_.port(), frame->time)) {
    return fail(place, fmt::format("a frame that no device may send: {}", *deviation));
  }
  if (qp == nullptr) {
    return fail(
        place, fmt::format("a frame to QP {:#x}, which the device has no connection to", packet.bth().dest_qp.value()));
  }
  bed_.hear(packet);
  if (frame->is_of_program) {
    take_of_program(*qp, *frame, packet);
  } else {
    qp->waiting.push_back(std::move(*frame));
  }
  return true;
}

std::optional<SeenFrame> CaseRun::next_frame(PeerQp& qp, Time until) {
  while (qp.waiting.empty()) {
    if (!wait_for_frame(until)) return std::nullopt;
  }
  SeenFrame frame = std::move(qp.waiting.front());
  qp.waiting.pop_front();
  return frame;
}

Time CaseRun::begin_of(const Step& step) const {
  const auto label = labels_.find(step.since);
  return label == labels_.end() ? last_ : label->second.time;
}

std::optional<Time> CaseRun::deadline_of(const Step& step) {
  const std::optional<Duration> within = duration(step.within, timing_.answer, step.place);
  if (!within) return std::nullopt;
  return begin_of(step) + *within + timing_.late;
}

CaseRun::Verdict CaseRun::check_times(const SeenFrame& frame, const Step& step) {
  if (!step.after) return true;
  const std::optional<Duration> after = duration(step.after, Duration{0}, step.place);
  if (!after) return false;
  const Duration elapsed = frame.time - begin_of(step);
  if (elapsed >= *after - timing_.early) return true;
  return fail(step.place,
              fmt::format("too early: after {}, expected at least {}", time_text(elapsed), time_text(*after)));
}

CaseRun::Verdict CaseRun::save_fields(const Step& step, const Packet& packet, Duration elapsed) {
  for (const Setting& save : step.save) {
    if (save.value.text() == "elapsed") {
      values_.insert_or_assign(save.name, Value::number(static_cast<std::uint64_t>(elapsed.count())));
      continue;
    }
    const std::optional<Value> value = field_value(packet, save.value.text());
    if (!value) return give_up({save.place, fmt::format("the frame has no {}", save.value.text())});
    outcome_.saved.emplace_back(save.name, to_string(*value));
    values_.insert_or_assign(save.name, *value);
  }
  return true;
}

CaseRun::Verdict CaseRun::take_frame(const FramePattern& pattern, const SeenFrame& frame, PeerQp& qp,
                                     const Step& step) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  CaseResult<std::vector<Comparison>> fields = compare_frame(pattern, qp.setup.type, packet, *this);
  if (!fields) return give_up(fields.error());
  if (!is_right(*fields)) {
    return fail(pattern.place,
                fmt::format("expected {}, seen after {}: {}", pattern.text, time_text(frame.time - begin_of(step)),
                            frame_name(packet)),
                std::move(*fields));
  }
  if (!check_times(frame, step) || !save_fields(step, packet, frame.time - begin_of(step))) return false;
  qp.learn(packet);
  remember(step, frame.bytes);
  return true;
}

CaseRun::Verdict CaseRun::expect_one(const FramePattern& pattern, const Step& step) {
  PeerQp* qp = qp_of(pattern.on, pattern.place);
  const std::optional<Time> until = qp != nullptr ? deadline_of(step) : std::nullopt;
  if (!until) return false;
  const std::optional<SeenFrame> frame = next_frame(*qp, *until);
  if (!frame) {
    if (outcome_.failure) return false;
    return miss(pattern.place,
                fmt::format("expected {} within {}, seen: nothing", pattern.text, time_text(*until - begin_of(step))));
  }
  if (!take_frame(pattern, *frame, *qp, step)) return false;
  last_ = frame->time;
  return true;
}

std::optional<std::vector<FramePattern>> CaseRun::single_frames(const std::vector<FramePattern>& patterns) {
  std::vector<FramePattern> all;
  for (const FramePattern& pattern : patterns) {
    const PeerQp* qp = qp_of(pattern.on, pattern.place);
    if (qp == nullptr) return std::nullopt;
    CaseResult<std::vector<FramePattern>> frames = frames_of(pattern, qp->setup.path_mtu, *this);
    if (!frames) {
      give_up(frames.error());
      return std::nullopt;
    }
    std::ranges::move(*frames, std::back_inserter(all));
  }
  return all;
}

std::optional<bool> CaseRun::fits(const FramePattern& pattern, const SeenFrame& frame, const PeerQp& qp) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  const CaseResult<std::vector<Comparison>> fields = compare_frame(pattern, qp.setup.type, packet, *this);
  if (fields) return bed_.find_qp(pattern.on) == &qp && is_right(*fields);
  give_up(fields.error());
  return std::nullopt;
}

CaseRun::Verdict CaseRun::run_action(const ExpectFrame& action, const Step& step) {
  const std::optional<std::vector<FramePattern>> frames = single_frames({action.pattern});
  return frames && std::ranges::all_of(*frames, [&](const FramePattern& frame) { return expect_one(frame, step); });
}

CaseRun::Verdict CaseRun::run_action(const ExpectInAnyOrder& action, const Step& step) {
  const std::optional<Time> until = deadline_of(step);
  std::optional<std::vector<FramePattern>> open = until ? single_frames(action.patterns) : std::nullopt;
  if (!open) return false;
  while (!open->empty()) {
    const auto from = std::ranges::find_if(bed_.qps(), [](const auto& each) { return !each.second.waiting.empty(); });
    if (from == bed_.qps().end()) {
      if (wait_for_frame(*until)) continue;
      return !outcome_.failure &&
             miss(open->front().place, fmt::format("expected {}, seen: nothing", open->front().text));
    }
    PeerQp& qp = from->second;
    const SeenFrame frame = std::move(qp.waiting.front());
    qp.waiting.pop_front();
    auto pattern = open->begin();
    for (; pattern != open->end(); ++pattern) {
      const std::optional<bool> is_it = fits(*pattern, frame, qp);
      if (!is_it) return false;
      if (*is_it) break;
    }
    if (pattern == open->end()) {
      return fail(step.place, fmt::format("expected {}{}, seen: {}", open->front().text,
                                          open->size() > 1 ? " or another" : "", frame_text(frame)));
    }
    open->erase(pattern);
    qp.learn(parse_frame(frame.bytes, LinkType::ethernet));
    last_ = frame.time;
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const Quiet& action, const Step& step) {
  const std::optional<Duration> time = duration(action.time, timing_.quiet, step.place);
  const std::optional<std::vector<FramePattern>> allowed = time ? single_frames(action.except) : std::nullopt;
  if (!allowed) return false;
  const Time until = target_.now() + *time;
  while (wait_for_frame(until)) {
  }
  if (outcome_.failure) return false;
  for (auto& [name, qp] : bed_.qps()) {
    for (; !qp.waiting.empty(); qp.waiting.pop_front()) {
      const SeenFrame& frame = qp.waiting.front();
      const bool is_allowed = std::ranges::any_of(
          *allowed, [&](const FramePattern& pattern) { return fits(pattern, frame, qp).value_or(false); });
      if (outcome_.failure) return false;
      if (!is_allowed) {
        return fail(step.place, fmt::format("expected nothing, seen after {}: {}", time_text(frame.time - last_),
                                            frame_text(frame)));
      }
      qp.learn(parse_frame(frame.bytes, LinkType::ethernet));
    }
  }
  last_ = target_.now();
  return true;
}

// Control.

CaseRun::Verdict CaseRun::run_action(const Assign& action, const Step& /*step*/) {
  for (const Assign::Assignment& assignment : action.assignments) {
    std::string chosen = "else";
    if (assignment.by) {
      const Evaluated<Value> by = assignment.by->evaluate(*this);
      if (!by) return give_up({assignment.place, by.error()});
      chosen = to_string(*by);
    }
    auto setting = std::ranges::find(assignment.values, chosen, &Setting::name);
    if (setting == assignment.values.end()) setting = std::ranges::find(assignment.values, "else", &Setting::name);
    if (setting == assignment.values.end()) {
      return give_up(
          {assignment.place, fmt::format("{}: there is no value for {}, and no else", assignment.name, chosen)});
    }
    Evaluated<Value> value = setting->value.evaluate(*this);
    if (!value) return give_up({setting->place, value.error()});
    if (action.is_reported) outcome_.saved.emplace_back(assignment.name, to_string(*value));
    values_.insert_or_assign(assignment.name, std::move(*value));
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const Check& action, const Step& step) {
  const Evaluated<Value> value = action.condition.evaluate(*this);
  if (!value) return give_up({step.place, value.error()});
  return value->is_true() || fail(step.place, fmt::format("not true: {}", action.condition.text()));
}

CaseRun::Verdict CaseRun::run_action(const Repeat& action, const Step& step) {
  const std::optional<std::uint64_t> times = repeats(action.times, step.place);
  if (!times) return false;
  for (std::uint64_t i = 0; i < *times; ++i) {
    if (!run_steps(action.steps)) return false;
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const ForEach& action, const Step& step) {
  const std::optional<std::vector<Value>> values = values_of(action.values, step.place);
  if (!values) return false;
  for (const Value& value : *values) {
    values_.insert_or_assign(action.name, value);
    if (!run_steps(action.steps)) return false;
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const Wait& action, const Step& step) {
  const std::optional<Duration> time = duration(action.time, Duration{0}, step.place);
  if (!time) return false;
  const Time until = target_.now() + *time;
  while (wait_for_frame(until)) {
  }
  last_ = target_.now();
  return !outcome_.failure;
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

std::optional<std::uint64_t> CaseRun::repeats(const Expression& expression, const Place& place) {
  const std::optional<std::uint64_t> times = number(expression, place);
  if (!times || *times <= kMostRepeats) return times;
  give_up({place, fmt::format("'{}' is {}, expected at most {}", expression.text(), *times, kMostRepeats)});
  return std::nullopt;
}

std::optional<std::vector<Value>> CaseRun::values_of(const std::vector<Choice>& choices, const Place& place) {
  std::vector<Value> values;
  for (const Choice& choice : choices) {
    Evaluated<Value> first = choice.first.evaluate(*this);
    if (!first) {
      give_up({place, first.error()});
      return std::nullopt;
    }
    if (!choice.last) {
      values.push_back(std::move(*first));
      continue;
    }
    const std::optional<std::uint64_t> from = number(choice.first, place);
    const std::optional<std::uint64_t> to = number(*choice.last, place);
    if (!from || !to) return std::nullopt;
    if (*to >= *from && *to - *from >= kMostRepeats) {
      give_up({place, fmt::format("more than {} values from {} to {}", kMostRepeats, *from, *to)});
      return std::nullopt;
    }
    for (std::uint64_t i = *from; i <= *to; ++i) values.push_back(Value::number(i));
  }
  return values;
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
