// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/run_state.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace roce::analyze {

RunState::RunState(std::span<const InputFile> inputs, const AnalysisRunOptions& run_options,
                   AnalysisConsumer& each_finding_to)
    : options(run_options),
      consumer(each_finding_to),
      intake(inputs, options, result),
      shards(options.tracker),
      hand_over(shards, options.tracker, consumer),
      pause(options.pause),
      kept(options.tracker.limits.streams, [this](const analysis::StreamSummary& each) { forget(each.stream); }) {
  if (options.after == nullptr) return;
  const CarriedState& state = *options.after;
  // The state was checked when it was loaded.
  static_cast<void>(shards.restore(state.trackers));
  intake.go_on_from(state);
  pause.go_on_from(state);
  ended_ = state.closed;
  kept.add(ended_);
  result.streams_left_out = state.closed_left_out;
  consumer.go_on_from(state);
}

void RunState::forget(std::uint32_t stream) {
  consumer.forget(stream);
  pause.forget(stream);
}

void RunState::keep_ended() {
  shards.drain_closed(ended_);
  if (ended_.empty()) return;
  // The next run may be asked for any stream, so all are kept if the state is carried on.
  if (options.carry == nullptr) {
    result.streams_not_asked_for += std::erase_if(ended_, [&](const analysis::StreamSummary& each) {
      if (consumer.lists(each.stream)) return false;
      forget(each.stream);
      return true;
    });
  }
  kept.add(ended_);
}

AnalysisResult RunState::finish() {
  intake.stop();
  hand_over();
  intake.finish();
  if (options.carry == nullptr) {
    shards.finish();
    hand_over();
  }
  keep_ended();
  take_findings();
  if (options.carry != nullptr) {
    save_into(*options.carry, CarriedState::kClosed);
    add_open(options.carry->open);
  }
  result.evictions = shards.evictions();
  result.streams_begun = shards.streams_begun();
  result.begins = shards.begins();
  pause.finish(result);
  result.neighbours = reach.neighbours();
  result.undelivered = reach.errors();
  result.uncounted_notices = reach.uncounted_messages();
  return std::move(result);
}

AnalysisResult RunState::so_far(AnalysisConsumer& end) {
  keep_ended();
  take_findings();
  CarriedState state;
  save_into(state, result.streams.size());
  kept.add(result.streams);
  AnalysisRunOptions ending = options;
  ending.after = &state;
  ending.carry = nullptr;
  ending.quiet = true;
  RunState goes_on{{}, ending, end};
  goes_on.reach = reach;
  goes_on.result.earlier_files = 0;
  AnalysisResult ended = goes_on.finish();
  ended.streams_left_out = result.streams_left_out;
  ended.streams_unlisted += result.streams_unlisted;
  ended.streams_not_asked_for = result.streams_not_asked_for;
  return ended;
}

void RunState::take_findings() {
  result.streams = kept.take();
  result.streams_unlisted = kept.left_out();
  result.verdicts = consumer.counts();
  result.point_verdicts = consumer.of_points();
}

// `result` has the closed streams.
void RunState::save_into(CarriedState& state, std::size_t most_closed) {
  intake.carry_into(state);
  pause.carry_into(state);
  state.trackers = shards.save();
  state.open = shards.streams();
  const std::size_t left_out = result.streams.size() - std::min(result.streams.size(), most_closed);
  state.closed.assign(result.streams.begin() + static_cast<std::ptrdiff_t>(left_out), result.streams.end());
  state.closed_left_out = result.streams_left_out + result.streams_unlisted + left_out;
  state.verdicts = result.verdicts;
  state.point_verdicts = result.point_verdicts;
  // Streams that are not listed any more cannot be asked for.
  std::set<std::uint32_t> listed;
  for (const auto* streams : {&state.open, &state.closed}) {
    for (const analysis::StreamSummary& stream : *streams) listed.insert(stream.stream);
  }
  std::erase_if(state.breaches, [&](const auto& each) { return !listed.contains(each.first); });
  std::erase_if(state.verdicts.losses_of_stream, [&](const auto& each) { return !listed.contains(each.first); });
}

void RunState::add_open(const std::vector<analysis::StreamSummary>& open) {
  std::vector<analysis::StreamSummary> all;
  all.reserve(result.streams.size() + open.size());
  std::merge(result.streams.begin(), result.streams.end(), open.begin(), open.end(), std::back_inserter(all),
             [](const auto& a, const auto& b) { return a.stream < b.stream; });
  result.streams = std::move(all);
}

}  // namespace roce::analyze
