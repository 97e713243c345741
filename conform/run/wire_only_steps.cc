// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that ask the device, where nobody can: they are not run, unless the wire shows the same.
#include <algorithm>
#include <array>

#include "conform/run/case_run.h"

namespace roce::conform {

namespace {

/// True for the completion of a receive that has to come, whatever else it says.
bool is_delivery(const AwaitCompletion& action, const Scope& scope) {
  const auto status = std::ranges::find(action.fields, "status", &FieldPattern::name);
  if (!action.is_receive || status == action.fields.end() || status->is_negated) return false;
  if (status->choices.size() != 1) return false;
  const Evaluated<Value> wanted = status->choices.front().first.evaluate(scope);
  return wanted && to_string(*wanted) == "success";
}

bool asks_device(const Step& step) {
  return std::visit(
      []<typename Action>(const Action& /*action*/) {
        return std::is_same_v<Action, AwaitCompletion> || std::is_same_v<Action, NoCompletion> ||
               std::is_same_v<Action, AwaitEvent> || std::is_same_v<Action, NoEvent> ||
               std::is_same_v<Action, AwaitState> || std::is_same_v<Action, CheckMemory> ||
               std::is_same_v<Action, CheckCounters>;
      },
      step.action);
}

}  // namespace

std::optional<CaseRun::Verdict> CaseRun::run_on_wire_only(const Step& step) {
  if (std::holds_alternative<Verb>(step.action)) throw DeviceLacks("an agent, which could post or change something");
  if (!asks_device(step)) return std::nullopt;
  // Where nothing is acknowledged, the program's own message tells that one was delivered to it.
  const PeerQp* qp = bed_.find_qp(kDefaultQp);
  const bool is_told = target_.answers_messages() && qp->setup.type != transport::QpType::rc;
  const auto* const completion = std::get_if<AwaitCompletion>(&step.action);
  if (is_told && completion != nullptr && is_delivery(*completion, *this)) return expect_delivery(step);
  if (is_told && std::holds_alternative<NoCompletion>(step.action) && deliveries_ != 0) {
    return fail(step.place, "expected no message to be delivered; the server has answered one");
  }
  ++outcome_.unseen_steps;
  return true;
}

CaseRun::Verdict CaseRun::expect_delivery(const Step& step) {
  const std::optional<Time> until = deadline_of(step);
  if (!until) return false;
  while (deliveries_ == 0) {
    if (wait_for_frame(*until)) continue;
    return !outcome_.failure &&
           miss(step.place, "expected the server to answer a message that was delivered, seen: nothing");
  }
  --deliveries_;
  return true;
}

void CaseRun::take_of_program(PeerQp& qp, const SeenFrame& frame, const Packet& packet) {
  if (packet.info().ends_message()) ++deliveries_;
  qp.learn(packet);
  if (frame.answer.empty()) return;
  outcome_.frames.push_back({target_.now(), false, frame.answer, line_});
  monitor_.take_sent(parse_frame(frame.answer, LinkType::ethernet), target_.now());
}

}  // namespace roce::conform
