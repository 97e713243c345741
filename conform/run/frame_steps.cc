// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that send frames to the device, or expect frames of it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conform/run/case_run.h"
#include "conform/run/field_match.h"
#include "conform/run/pattern_frames.h"

namespace roce::conform {

namespace {

// A case may send thousands of frames, which need not all be in memory.
constexpr std::size_t kBurst = 32;

std::string time_text(Duration time) {
  return fmt::format("{:.3f} ms", static_cast<double>(time.count()) / 1e6);
}

}  // namespace

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
    burst_.push_back(*bytes);
    if (burst_.size() == kBurst) send_burst();
  }
  remember(step, *bytes);
  return true;
}

void CaseRun::send_burst() {
  const Time now = target_.now();
  if (!is_later_burst_) last_ = now;
  is_later_burst_ = true;
  for (const std::vector<std::byte>& frame : burst_) {
    outcome_.frames.push_back({now, false, frame, line_});
    monitor_.take_sent(parse_frame(frame, LinkType::ethernet), now);
  }
  target_.send_burst(burst_);
  burst_.clear();
}

void CaseRun::remember(const Step& step, const std::vector<std::byte>& bytes) {
  if (!step.label.empty()) labels_[step.label].frame = bytes;
}

CaseRun::Verdict CaseRun::run_action(const Inject& action, const Step& step) {
  is_later_burst_ = false;
  const bool all = std::ranges::all_of(action.frames, [&](const FrameSpec& frame) { return send(frame, step); });
  send_burst();
  return all;
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
  return label == labels_.end() || label->second.times.empty() ? last_ : label->second.times.back();
}

bool CaseRun::shows_late_tester(const SeenFrame& frame, const Step& step, Duration within) const {
  const auto label = labels_.find(step.since);
  if (label == labels_.end()) return false;
  const std::vector<Time>& times = label->second.times;
  const auto next = std::ranges::upper_bound(times, frame.time);
  return next != times.begin() && frame.time - *std::prev(next) > within;
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
  if (elapsed < Duration{} && shows_late_tester(frame, step, Duration{})) {
    return be_late(step.place,
                   fmt::format("the tester was too slow: the frame came {} before the step \"{}\" was done again",
                               time_text(-elapsed), step.since));
  }
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
  const std::optional<Duration> within = duration(step.within, Duration::max(), step.place);
  const std::optional<std::vector<FramePattern>> allowed = time && within ? single_frames(action.except) : std::nullopt;
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
      if (!is_allowed && shows_late_tester(frame, step, *within)) {
        return be_late(step.place,
                       fmt::format("the tester was too slow: a frame came more than {} after the step \"{}\"",
                                   time_text(*within), step.since));
      }
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

}  // namespace roce::conform
