// SPDX-License-Identifier: BSD-2-Clause
// The step of a case that allows several behaviours, and follows the one that it sees.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/run/case_run.h"
#include "conform/run/field_match.h"

namespace roce::conform {

CaseRun::Verdict CaseRun::run_action(const ExpectOneOf& action, const Step& step) {
  const auto completes = [](const auto& branch) {
    return std::holds_alternative<AwaitCompletion>(branch.steps.front().action);
  };
  if (const auto branch = std::ranges::find_if(action.branches, completes); branch != action.branches.end()) {
    return choose_by_completion(action, std::get<AwaitCompletion>(branch->steps.front().action), step);
  }
  const auto& first = action.branches.front();
  const auto* const frame_step = std::get_if<ExpectFrame>(&first.steps.front().action);
  PeerQp* qp = qp_of(frame_step != nullptr ? frame_step->pattern.on : kDefaultQp, first.place);
  if (qp == nullptr) return false;
  const bool may_be_quiet = std::ranges::any_of(
      action.branches, [](const auto& branch) { return std::holds_alternative<Quiet>(branch.steps.front().action); });
  const std::optional<Duration> within =
      duration(step.within, may_be_quiet ? timing_.quiet : timing_.answer, step.place);
  if (!within) return false;
  std::optional<SeenFrame> frame = next_frame(*qp, begin_of(step) + *within + timing_.late);
  if (outcome_.failure) return false;
  std::string wanted;
  for (const ExpectOneOf::Branch& branch : action.branches) {
    const auto* const expect = std::get_if<ExpectFrame>(&branch.steps.front().action);
    wanted += fmt::format("{}{}", wanted.empty() ? "" : " or ", expect != nullptr ? expect->pattern.text : "nothing");
    bool is_taken = !frame && expect == nullptr;
    if (frame && expect != nullptr) {
      const std::optional<std::vector<FramePattern>> frames = single_frames({expect->pattern});
      const std::optional<bool> is_it = frames ? fits(frames->front(), *frame, *qp) : std::nullopt;
      if (!is_it) return false;
      is_taken = *is_it;
    }
    if (!is_taken) continue;
    if (frame) qp->waiting.push_front(std::move(*frame));
    outcome_.branches.push_back(branch.name);
    return run_steps(branch.steps);
  }
  if (!frame) return miss(step.place, fmt::format("expected {}, seen: nothing", wanted));
  return fail(step.place, fmt::format("expected {}, seen: {}", wanted, frame_text(*frame)));
}

CaseRun::Verdict CaseRun::choose_by_completion(const ExpectOneOf& action, const AwaitCompletion& first,
                                               const Step& step) {
  const PeerQp* qp = own_qp_of(first.on, step.place);
  const std::optional<Duration> within =
      qp != nullptr ? duration(step.within, timing_.quiet, step.place) : std::nullopt;
  if (!within) return false;
  std::optional<transport::Completion> completion =
      next_completion(*qp, first.is_receive, begin_of(step) + *within + timing_.late);
  if (outcome_.failure) return false;
  for (const ExpectOneOf::Branch& branch : action.branches) {
    const auto* const await = std::get_if<AwaitCompletion>(&branch.steps.front().action);
    bool is_taken = !completion && await == nullptr;
    if (completion && await != nullptr) {
      const std::optional<std::vector<Comparison>> fields = compare_completion(*await, *completion);
      if (!fields) return false;
      is_taken = is_right(*fields);
    }
    if (!is_taken) continue;
    chosen_ = completion;
    outcome_.branches.push_back(branch.name);
    return run_steps(branch.steps);
  }
  return fail(step.place,
              fmt::format("no branch fits the completion: {}",
                          completion ? fmt::format("{} of request {}", to_string(completion->status), completion->wr_id)
                                     : "none"));
}

}  // namespace roce::conform
