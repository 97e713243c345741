// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that ask the device, where nobody can: they are not run, unless the wire shows the same.
#include <fmt/format.h>

#include <algorithm>

#include "conform/run/case_run.h"
#include "roce/wire/icrc.h"

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

Service service_of(transport::QpType type) {
  switch (type) {
    case transport::QpType::rc:
      return Service::rc;
    case transport::QpType::uc:
      return Service::uc;
    default:
      return Service::ud;
  }
}

/// True if a QP takes the frame for one of its own, whatever it then finds wrong with the request.
bool reaches(const PeerQp& qp, const Port& port, const Packet& packet) {
  if (!packet.is_roce() || packet.problem().reason != ParseReason::none) return false;
  constexpr unsigned key = 0x7FFF;  // without the bit of full members
  const Bth bth = packet.bth();
  const bool is_intact = check_icrc(packet).status == IcrcStatus::good && bth.version == 0;
  return is_intact && bth.dest_qp == qp.qpn && (bth.p_key.value() & key) == key &&
         packet.info().service == service_of(qp.setup.type) && packet.net().source == port.tester_gid &&
         packet.net().destination == port.device_gid;
}

}  // namespace

void CaseRun::check_carried_out(const PeerQp& qp, const Packet& packet) {
  if (!reaches(qp, target_.port(), packet)) return;
  const OpcodeInfo& info = packet.info();
  if (!info.defined() || info.is_response()) return;
  const bool has_receive =
      info.operation != Operation::write || !info.immediate || target_.carries_out(Operation::send);
  if (!has_receive || !target_.carries_out(info.operation)) {
    throw DeviceLacks(fmt::format("a server that takes {}", info.name));
  }
  if (info.operation != Operation::send) return;
  if (info.begins_message()) message_bytes_ = 0;
  message_bytes_ += packet.payload_length();
  if (message_bytes_ <= target_.receive_bytes()) return;
  throw DeviceLacks(fmt::format("receives of more than {} bytes", target_.receive_bytes()));
}

std::optional<CaseRun::Verdict> CaseRun::run_on_wire_only(const Step& step) {
  const auto* const verb = std::get_if<Verb>(&step.action);
  // A server posts its receives itself.
  const bool is_receive = verb != nullptr && verb->kind == Verb::Kind::post_receive;
  if (verb != nullptr && !is_receive) throw DeviceLacks("an agent, which could post or change something");
  if (!is_receive && !asks_device(step)) return std::nullopt;
  // Where nothing is acknowledged, the program's own message tells that one was delivered to it.
  const PeerQp* qp = bed_.find_qp(kDefaultQp);
  const bool is_told = target_.answers_messages() && qp->setup.type != transport::QpType::rc;
  const auto* const completion = std::get_if<AwaitCompletion>(&step.action);
  if (is_told && completion != nullptr && is_delivery(*completion, *this)) return expect_delivery(step);
  if (is_told && std::holds_alternative<NoCompletion>(step.action) && deliveries_ != 0) {
    return fail(step.place, "expected no message to be delivered; the server has answered one");
  }
  ++unseen_steps_;
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
