// SPDX-License-Identifier: BSD-2-Clause
#include "roce/impair/engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "impair/actions.h"
#include "impair/picker.h"
#include "impair/schedule.h"

namespace roce::impair {

namespace {

/// Returns `time` + `by`, but never reaches kNever, however many delays are added.
Time later(Time time, Duration by) {
  return by >= kNever - std::max(time, Time{}) ? Time::max() - Duration{1} : time + by;
}

}  // namespace

class Engine::State {
 public:
  State(RuleSet rules, std::uint64_t seed, Limits limits, LinkType link_type);

  Submitted submit(Direction direction, Bytes frame, Time now);
  std::optional<Output> poll(Time now);
  std::optional<LogRecord> poll_log();
  [[nodiscard]] Time next_timeout() const { return schedule_.next_due(); }

  RuleSet rules;
  Stats stats;

 private:
  void log(const Pick& pick, const Traits& traits, Time now, LogOutcome outcome);
  bool hold(std::uint32_t index, const Reorder& reorder, Duration delay, Time now);
  void note_passing(const Slot& passing);
  void finish_polled();

  Limits limits_;
  LinkType link_type_;
  Picker picker_;
  Schedule schedule_;
  std::vector<std::uint32_t> reordered_;  ///< slots that wait for later packets
  std::optional<std::uint32_t> polled_;   ///< the slot of the output that the caller may still read
  std::size_t held_packets_ = 0;
  std::size_t held_bytes_ = 0;
  std::size_t ready_packets_ = 0;
  std::vector<LogRecord> log_;  ///< a ring
  std::size_t log_start_ = 0;
  std::size_t log_size_ = 0;
};

Engine::State::State(RuleSet rule_set, std::uint64_t seed, Limits limits, LinkType link_type)
    : rules(std::move(rule_set)), limits_(limits), link_type_(link_type), picker_(rules.rules(), seed, limits) {
  limits_.ready_packets = std::max<std::size_t>(limits_.ready_packets, 1);
  if (!rules.rules().empty()) log_.resize(limits_.log_records);
}

void Engine::State::log(const Pick& pick, const Traits& traits, Time now, LogOutcome outcome) {
  if (log_size_ == log_.size()) {
    ++stats.log_lost;
    return;
  }
  log_[(log_start_ + log_size_) % log_.size()] = {.time = now,
                                                  .packet = stats.submitted,
                                                  .rule = pick.rule,
                                                  .outcome = outcome,
                                                  .is_roce = traits.is_roce,
                                                  .flow = traits.flow,
                                                  .opcode = traits.opcode,
                                                  .packet_class = traits.packet_class,
                                                  .psn = traits.psn,
                                                  .relative_psn = traits.occurrence.relative_psn,
                                                  .transmission = traits.occurrence.transmission,
                                                  .match = pick.match};
  ++log_size_;
}

std::optional<LogRecord> Engine::State::poll_log() {
  if (log_size_ == 0) return std::nullopt;
  const LogRecord record = log_[log_start_];
  log_start_ = (log_start_ + 1) % log_.size();
  --log_size_;
  return record;
}

/// Schedules a slot for a later time; false if the limits do not allow it.
bool Engine::State::hold(std::uint32_t index, const Reorder& reorder, Duration delay, Time now) {
  Slot& slot = schedule_[index];
  if (held_packets_ >= limits_.held_packets || slot.bytes.size() > limits_.held_bytes - held_bytes_) return false;
  ++held_packets_;
  held_bytes_ += slot.bytes.size();
  slot.is_held = true;
  slot.not_before = later(now, delay);
  slot.wait_for = reorder.by;
  Time due = slot.not_before;
  if (reorder.by != 0) {
    due = std::max(due, later(now, reorder.timeout));
    reordered_.push_back(index);
  }
  schedule_.insert(index, due);
  return true;
}

Submitted Engine::State::submit(Direction direction, Bytes frame, Time now) {
  finish_polled();
  if (frame.size() > limits_.frame_bytes) return Submitted::too_long;
  if (ready_packets_ >= limits_.ready_packets) return Submitted::full;
  const std::uint32_t index = schedule_.acquire();
  Slot& slot = schedule_[index];
  slot.bytes.assign(frame.begin(), frame.end());
  slot.direction = direction;
  slot.packet = ++stats.submitted;

  Duration delay{};
  Reorder reorder{0, {}};
  if (!rules.rules().empty()) {
    const Packet packet = parse_frame(slot.bytes, link_type_);
    const Traits traits = picker_.look_at(packet, direction);
    stats.flows_forgotten = picker_.flows_forgotten();
    const std::span<const Pick> picks = picker_.pick(rules.rules(), packet, traits);
    const auto action = [&](const Pick& pick) -> const Action& { return rules.rules()[pick.rule].action; };
    const auto is_drop = [&](const Pick& pick) { return std::holds_alternative<Drop>(action(pick)); };
    if (const auto drop = std::ranges::find_if(picks, is_drop); drop != picks.end()) {
      log(*drop, traits, now, LogOutcome::done);
      ++stats.dropped;
      schedule_.release(index);
      return Submitted::taken;
    }
    for (const Pick& pick : picks) {
      if (const auto* duplicate = std::get_if<Duplicate>(&action(pick))) {
        slot.sends_left += duplicate->copies;
        stats.duplicates += duplicate->copies;
      } else if (const auto* farther = std::get_if<Reorder>(&action(pick))) {
        if (farther->by > reorder.by) reorder.by = farther->by;
        reorder.timeout = std::max(reorder.timeout, farther->timeout);
      } else if (const auto* longer = std::get_if<Delay>(&action(pick))) {
        delay = later(Time{delay}, longer->by).time_since_epoch();
      } else if (const auto* corrupt = std::get_if<Corrupt>(&action(pick))) {
        apply_corrupt(*corrupt, packet, slot.bytes, picker_.random(pick.rule));
      } else if (const auto* edit = std::get_if<Edit>(&action(pick))) {
        apply_edit(*edit, picker_.edit_target(pick.rule), packet, slot.bytes);
      } else {
        apply_mark_ce(packet, slot.bytes);
      }
    }
    const bool wants_hold = reorder.by != 0 || delay != Duration{};
    const bool is_held = wants_hold && hold(index, reorder, delay, now);
    if (wants_hold && !is_held) ++stats.over_limit;
    for (const Pick& pick : picks) {
      const bool holds = std::holds_alternative<Reorder>(action(pick)) || std::holds_alternative<Delay>(action(pick));
      log(pick, traits, now, holds && !is_held ? LogOutcome::over_limit : LogOutcome::done);
    }
    if (is_held) return Submitted::taken;
  }
  ++ready_packets_;
  schedule_.insert(index, now);
  return Submitted::taken;
}

/// Counts a packet that goes on, for the slots that wait for later packets to pass.
void Engine::State::note_passing(const Slot& passing) {
  for (std::size_t i = 0; i < reordered_.size();) {
    const std::uint32_t index = reordered_[i];
    Slot& slot = schedule_[index];
    if (slot.packet == passing.packet) {
      slot.wait_for = 0;
    } else if (slot.direction == passing.direction && slot.packet < passing.packet && --slot.wait_for == 0) {
      schedule_.move(index, std::max(passing.due, slot.not_before));
    }
    if (slot.wait_for != 0) {
      ++i;
    } else {
      reordered_.erase(reordered_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void Engine::State::finish_polled() {
  if (!polled_) return;
  if (schedule_[*polled_].sends_left == 0) schedule_.release(*polled_);
  polled_.reset();
}

std::optional<Output> Engine::State::poll(Time now) {
  finish_polled();
  if (schedule_.empty() || schedule_.next_due() > now) return std::nullopt;
  const std::uint32_t index = schedule_.top();
  Slot& slot = schedule_[index];
  const Output output{slot.direction, slot.bytes, slot.due, slot.packet};
  if (--slot.sends_left == 0) {
    schedule_.pop_top();
    if (slot.is_held) {
      --held_packets_;
      held_bytes_ -= slot.bytes.size();
    } else {
      --ready_packets_;
    }
  }
  if (slot.is_first) {
    slot.is_first = false;
    note_passing(slot);
  }
  ++stats.polled;
  polled_ = index;
  return output;
}

Engine::Engine(RuleSet rules, std::uint64_t seed, Limits limits, LinkType link_type)
    : state_(std::make_unique<State>(std::move(rules), seed, limits, link_type)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Submitted Engine::submit(Direction direction, Bytes frame, Time now) {
  return state_->submit(direction, frame, now);
}
std::optional<Output> Engine::poll(Time now) {
  return state_->poll(now);
}
Time Engine::next_timeout() const {
  return state_->next_timeout();
}
std::optional<LogRecord> Engine::poll_log() {
  return state_->poll_log();
}
const RuleSet& Engine::rules() const {
  return state_->rules;
}
const Stats& Engine::stats() const {
  return state_->stats;
}
std::size_t Engine::packets_inside() const {
  return static_cast<std::size_t>(state_->stats.submitted + state_->stats.duplicates - state_->stats.polled -
                                  state_->stats.dropped);
}

}  // namespace roce::impair
