// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that ask the device, not the wire: verbs, completions, events, states, memory and counters.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/run/attributes.h"
#include "conform/run/case_run.h"
#include "conform/run/field_match.h"
#include "roce/transport/counters.h"

namespace roce::conform {

namespace {

// The device is asked again after this time; frames that come meanwhile wait at their QPs.
constexpr Duration kPollInterval = std::chrono::milliseconds{1};

std::optional<Value> completion_value(const transport::Completion& completion, std::string_view name) {
  if (name == "wr_id") return Value::number(completion.wr_id);
  if (name == "status") return Value::word(std::string{to_string(completion.status)});
  if (name == "opcode") return Value::word(std::string{to_string(completion.opcode)});
  if (name == "byte_length") return Value::number(completion.byte_length);
  if (name == "immediate") return Value::number(completion.immediate);
  if (name == "invalidated") return Value::number(completion.invalidated.value());
  if (name == "qpn") return Value::number(completion.qpn.value());
  if (name == "source_qp") {
    return completion.has_network_header ? Value::number(completion.source_qp.value()) : Value::word("none");
  }
  return std::nullopt;
}

/// True if a text is the value, or one of its list.
bool is_one_of(const Value& wanted, std::string_view seen) {
  const Value::List* list = wanted.as_list();
  if (list == nullptr) return to_string(wanted) == seen;
  return std::ranges::any_of(*list, [&](const Value& each) { return to_string(each) == seen; });
}

}  // namespace

std::optional<TargetResult<void>> CaseRun::end_object(const Verb& action, const Step& step) {
  if (action.kind == Verb::Kind::deregister) {
    if (const Region* region = bed_.find_region(action.on)) return target_.deregister(region->number);
    give_up({step.place, fmt::format("there is no region {}", action.on)});
    return std::nullopt;
  }
  if (const auto window = bed_.find_window(action.on)) return target_.destroy_window(*window);
  if (const PeerQp* qp = bed_.find_qp(action.on)) return target_.destroy_qp(qp->number);
  give_up({step.place, fmt::format("there is no window and no QP {}", action.on)});
  return std::nullopt;
}

std::optional<TargetResult<void>> CaseRun::create(const Verb& action, const Step& step) {
  if (const CaseResult<void> made = bed_.make_again(action.on, step.place, *this); !made) {
    give_up(made.error());
    return std::nullopt;
  }
  return TargetResult<void>{};
}

std::optional<TargetResult<void>> CaseRun::join(const Verb& action, const PeerQp& qp, const Step& step) {
  if (action.arguments.size() != 1 || action.arguments.front().name != "group") {
    give_up({step.place, fmt::format("{}: expected group, an IP address", step.verb)});
    return std::nullopt;
  }
  const Evaluated<Value> group = action.arguments.front().value.evaluate(*this);
  if (!group) {
    give_up({step.place, group.error()});
    return std::nullopt;
  }
  if (action.kind == Verb::Kind::attach) return target_.attach(qp.number, to_string(*group));
  return target_.detach(qp.number, to_string(*group));
}

std::optional<TargetResult<void>> CaseRun::post_bind(const Verb& action, const PeerQp& qp, const Step& step) {
  CaseResult<BindArguments> bind = read_bind(action.arguments, *this);
  if (!bind) {
    give_up(bind.error());
    return std::nullopt;
  }
  const std::optional<WindowNumber> window = bed_.find_window(bind->window);
  const Region* region = bed_.find_region(bind->region);
  if (!window || region == nullptr) {
    give_up({step.place, window ? fmt::format("there is no region {}", bind->region)
                                : fmt::format("there is no window {}", bind->window)});
    return std::nullopt;
  }
  bind->order.window = *window;
  bind->order.region = region->number;
  return target_.post_bind(qp.number, bind->order);
}

std::optional<TargetResult<void>> CaseRun::arm(const Verb& action, const Step& step) {
  if (const std::optional<SrqNumber> srq = bed_.find_srq(action.on)) {
    const CaseResult<std::uint32_t> limit = read_limit(action.arguments, *this);
    if (limit) return target_.arm_srq(*srq, *limit);
    give_up(limit.error());
    return std::nullopt;
  }
  const PeerQp* qp = bed_.find_qp(action.on);
  const CaseResult<CqArming> arming = read_arming(action.arguments, *this);
  if (qp != nullptr && arming) return target_.arm_cq(qp->number, *arming);
  give_up(qp == nullptr ? CaseError{step.place, fmt::format("there is no SRQ and no QP {}", action.on)}
                        : arming.error());
  return std::nullopt;
}

std::optional<TargetResult<void>> CaseRun::reconnect(const Verb& action, PeerQp& qp) {
  QpSetup setup = qp.setup;
  if (const CaseResult<void> read = read_reconnect(setup, action.arguments, *this); !read) {
    give_up(read.error());
    return std::nullopt;
  }
  if (TargetResult<void> up = target_.bring_up(qp.number, setup); !up) return up;
  qp.setup = setup;
  qp.expected = setup.rq_psn;
  qp.next = setup.sq_psn;
  qp.msn = Msn{};
  monitor_.forget();
  return TargetResult<void>{};
}

std::optional<TargetResult<void>> CaseRun::post_receive(const Verb& action, const PeerQp& qp) {
  const CaseResult<ReceiveOrder> order = read_receive(bed_.order_for(qp).data, action.arguments, *this);
  if (order) return target_.post_receive(qp.number, order->wr_id, order->pieces);
  give_up(order.error());
  return std::nullopt;
}

std::optional<TargetResult<void>> CaseRun::post_srq_receive(SrqNumber srq, const Verb& action) {
  const Region* region = bed_.find_region("R");
  SendOrder order{.data = {.address = region->address, .length = 0, .l_key = LKey{region->l_key}}};
  if (const CaseResult<void> read = read_order(order, action.arguments, *this); !read) {
    give_up(read.error());
    return std::nullopt;
  }
  return target_.post_srq_receive(srq, order.request.wr_id, order.data);
}

std::optional<TargetResult<void>> CaseRun::call(const Verb& action, const Step& step) {
  if (action.kind == Verb::Kind::arm) return arm(action, step);
  if (action.kind >= Verb::Kind::accept) return call_cm(action, step);
  if (const auto srq = bed_.find_srq(action.on); srq && action.kind == Verb::Kind::post_receive) {
    return post_srq_receive(*srq, action);
  }
  if (action.kind == Verb::Kind::deregister || action.kind == Verb::Kind::destroy) return end_object(action, step);
  if (action.kind == Verb::Kind::create) return create(action, step);
  PeerQp* qp = own_qp_of(action.on, step.place);
  if (qp == nullptr) return std::nullopt;
  if (action.kind == Verb::Kind::attach || action.kind == Verb::Kind::detach) return join(action, *qp, step);
  if (action.kind == Verb::Kind::reconnect) return reconnect(action, *qp);
  if (action.kind == Verb::Kind::post_receive) return post_receive(action, *qp);
  if (action.kind == Verb::Kind::bind) return post_bind(action, *qp, step);
  if (action.kind == Verb::Kind::modify) {
    const CaseResult<transport::QpChange> change = read_change(action.arguments, *this);
    if (change) return target_.modify(qp->number, *change);
    give_up(change.error());
    return std::nullopt;
  }
  SendOrder order = bed_.order_for(*qp);
  if (CaseResult<void> read = read_order(order, action.arguments, *this); !read) {
    give_up(read.error());
    return std::nullopt;
  }
  return target_.post_send(qp->number, order);
}

CaseRun::Verdict CaseRun::run_action(const Verb& action, const Step& step) {
  // The time is that of before the verb: frames that the device sends at once may come before the verb returns.
  last_ = target_.now();
  const std::optional<TargetResult<void>> done = call(action, step);
  if (!done) return false;
  if (done->has_value() != step.is_refused) return true;
  if (*done) return fail(step.place, fmt::format("{} was not refused", step.verb));
  return fail(step.place, fmt::format("{} was refused: {}", step.verb, done->error()));
}

CaseRun::Verdict CaseRun::run_action(const Probe& action, const Step& step) {
  PeerQp* qp = own_qp_of(action.on, step.place);
  if (qp == nullptr) return false;
  if (qp->setup.type != transport::QpType::rc) {
    return give_up({step.place, fmt::format("a probe needs a QP that answers: {} is not of type rc", action.on)});
  }
  const Region* region = bed_.find_region("probe");
  const bool is_write = target_.carries_out(Operation::write);
  FrameSpec frame{
      .place = step.place, .opcode = Expression::literal(is_write ? "WRITE_ONLY" : "SEND_ONLY"), .on = action.on};
  const auto set = [&](std::string_view name, const std::string& text) {
    frame.fields.push_back({step.place, std::string{name}, Expression::literal(text)});
  };
  if (is_write) {
    set("reth.va", std::to_string(region->address));
    set("reth.r_key", std::to_string(region->r_key));
  }
  set("payload", fmt::format("{:016x}", qp->expected.value() + 1));
  const std::uint32_t msn = (qp->msn + 1).value();
  FramePattern answer{.place = step.place,
                      .text = fmt::format("ACK [{}, {}] of a probe", qp->expected.value(), msn),
                      .on = action.on,
                      .opcode = Expression::literal("ACKNOWLEDGE")};
  const auto want = [&](std::string_view name, std::uint32_t value) {
    answer.fields.push_back({step.place, std::string{name}, false, {{Expression::literal(std::to_string(value)), {}}}});
  };
  want("bth.psn", qp->expected.value());
  want("aeth.msn", msn);
  is_later_burst_ = false;
  if (!send(frame, step)) return false;
  send_burst();
  if (!expect_one(answer, step)) return false;
  return is_wire_only_ || bed_.accept_memory(region->address, 8).has_value();
}

std::optional<transport::Completion> CaseRun::next_completion(const PeerQp& qp, bool is_receive, Time until) {
  if (chosen_) return std::exchange(chosen_, std::nullopt);
  for (;;) {
    if (auto completion = target_.poll(qp.number, is_receive)) return completion;
    if (target_.now() >= until) return std::nullopt;
    (void)wait_for_frame(std::min(until, target_.now() + kPollInterval));
    if (outcome_.failure) return std::nullopt;
  }
}

std::optional<std::vector<Comparison>> CaseRun::compare_completion(const AwaitCompletion& action,
                                                                   const transport::Completion& completion) {
  std::vector<Comparison> fields;
  for (const FieldPattern& field : action.fields) {
    const std::optional<Value> seen = completion_value(completion, field.name);
    const Evaluated<bool> fits = seen ? allows(field, *seen, *this) : false;
    if (!seen || !fits) {
      give_up({field.place, seen ? fits.error() : fmt::format("a completion has no {}", field.name)});
      return std::nullopt;
    }
    fields.push_back({field.name, wanted_text(field, *this), to_string(*seen), *fits});
  }
  return fields;
}

CaseRun::Verdict CaseRun::run_action(const AwaitCompletion& action, const Step& step) {
  const PeerQp* qp = own_qp_of(action.on, step.place);
  const std::optional<Time> until = qp != nullptr ? deadline_of(step) : std::nullopt;
  if (!until) return false;
  const std::optional<transport::Completion> completion = next_completion(*qp, action.is_receive, *until);
  if (outcome_.failure) return false;
  if (!completion) return miss(step.place, "expected a completion, seen: none");
  last_ = target_.now();
  std::optional<std::vector<Comparison>> fields = compare_completion(action, *completion);
  if (!fields) return false;
  return is_right(*fields) || fail(step.place, "a completion differs", std::move(*fields));
}

CaseRun::Verdict CaseRun::run_action(const NoCompletion& action, const Step& step) {
  const PeerQp* qp = own_qp_of(action.on, step.place);
  if (qp == nullptr) return false;
  for (const bool is_receive : {false, true}) {
    if (is_receive ? !action.of_receive : !action.of_send) continue;
    if (const auto completion = target_.poll(qp->number, is_receive)) {
      return fail(step.place, fmt::format("expected no completion, seen: {} of request {}",
                                          to_string(completion->status), completion->wr_id));
    }
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const AwaitEvent& action, const Step& step) {
  const Evaluated<Value> wanted = action.type.evaluate(*this);
  if (!wanted) return give_up({step.place, wanted.error()});
  const std::optional<Time> until = deadline_of(step);
  if (!until) return false;
  for (;;) {
    const std::optional<transport::EventType> event = target_.poll_event();
    if (event && is_one_of(*wanted, to_string(*event))) return true;
    if (event) {
      return fail(step.place, fmt::format("expected event {}, seen: {}", to_string(*wanted), to_string(*event)));
    }
    if (target_.now() >= *until)
      return miss(step.place, fmt::format("expected event {}, seen: none", to_string(*wanted)));
    (void)wait_for_frame(std::min(*until, target_.now() + kPollInterval));
    if (outcome_.failure) return false;
  }
}

CaseRun::Verdict CaseRun::run_action(const NoEvent& /*action*/, const Step& step) {
  const std::optional<transport::EventType> event = target_.poll_event();
  return !event || fail(step.place, fmt::format("expected no event, seen: {}", to_string(*event)));
}

CaseRun::Verdict CaseRun::run_action(const AwaitState& action, const Step& step) {
  const PeerQp* qp = own_qp_of(action.on, step.place);
  const std::optional<Time> until = qp != nullptr ? deadline_of(step) : std::nullopt;
  if (!until) return false;
  const Evaluated<Value> wanted = action.state.evaluate(*this);
  if (!wanted) return give_up({step.place, wanted.error()});
  for (;;) {
    const std::string_view seen = to_string(target_.state(qp->number));
    if (seen == to_string(*wanted)) return true;
    if (target_.now() >= *until) {
      return fail(step.place, fmt::format("expected state {}, seen: {}", to_string(*wanted), seen));
    }
    (void)wait_for_frame(std::min(*until, target_.now() + kPollInterval));
    if (outcome_.failure) return false;
  }
}

CaseRun::Verdict CaseRun::wait_for_change(std::uint64_t address) {
  const Time until = target_.now() + timing_.late;
  while (bed_.is_as_before(address) && target_.now() < until) {
    (void)wait_for_frame(std::min(until, target_.now() + kPollInterval));
    if (outcome_.failure) return false;
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const CheckMemory& action, const Step& step) {
  if (!action.at) {
    const std::optional<std::string> change = bed_.find_change();
    return !change || fail(step.place, *change);
  }
  const std::optional<std::uint64_t> address = number(*action.at, step.place);
  if (!address) return false;
  std::uint64_t length = 0;
  std::string wanted;
  if (action.is) {
    const Evaluated<Value> value = action.is->evaluate(*this);
    if (!value) return give_up({step.place, value.error()});
    wanted = bytes_text(*value);
    length = wanted.size() / 2;
  } else {
    const std::optional<std::uint64_t> given = number(*action.length, step.place);
    if (!given) return false;
    length = *given;
    if (length != 0 && !wait_for_change(*address + length - 1)) return false;
  }
  auto bytes = bed_.accept_memory(*address, length);
  if (!bytes) return give_up({step.place, fmt::format("there is no memory at {:#x}", *address)});
  if (action.is) {
    std::string seen = hex_text(*bytes);
    // The frame that changes it may still be under way when nothing acknowledges it.
    const Time until = target_.now() + timing_.late;
    while (seen != wanted && target_.now() < until) {
      (void)wait_for_frame(std::min(until, target_.now() + kPollInterval));
      if (outcome_.failure) return false;
      bytes = bed_.accept_memory(*address, length);
      seen = hex_text(*bytes);
    }
    if (seen != wanted) {
      const auto at = static_cast<std::size_t>(std::ranges::mismatch(seen, wanted).in1 - seen.begin()) / 2;
      return fail(step.place, fmt::format("memory differs at {:#x}", *address + at),
                  {{"byte", wanted.substr(2 * at, 2), seen.substr(2 * at, 2), false}});
    }
  }
  return true;
}

CaseResult<std::vector<Comparison>> CaseRun::compare_counters(const CheckCounters& action) {
  std::vector<Comparison> fields;
  const std::map<std::string, std::uint64_t> counters = target_.counters();
  for (const FieldPattern& field : action.grown_by) {
    const auto before = counters_.find(field.name);
    const auto now = counters.find(field.name);
    if (before == counters_.end() || now == counters.end()) continue;
    const Value grown = Value::number(now->second - before->second);
    const Evaluated<bool> fits = allows(field, grown, *this);
    if (!fits) return tl::unexpected(CaseError{field.place, fits.error()});
    fields.push_back({field.name, "+" + wanted_text(field, *this), "+" + to_string(grown), *fits});
  }
  return fields;
}

CaseRun::Verdict CaseRun::run_action(const CheckCounters& action, const Step& step) {
  for (const FieldPattern& field : action.grown_by) {
    if (counters_.contains(field.name)) continue;
    if (std::ranges::find(transport::counter_names(), field.name, &transport::CounterName::name) ==
        transport::counter_names().end()) {
      return give_up({field.place, fmt::format("there is no counter {}", field.name)});
    }
    outcome_.saved.emplace_back(field.name, "the device has no such counter");
  }
  // Drivers write counters now and then: Linux asks an RNIC for them every 10 ms at most.
  const Time until = target_.now() + timing_.late;
  for (;;) {
    const Time time = target_.now();
    CaseResult<std::vector<Comparison>> fields = compare_counters(action);
    if (!fields) return give_up(fields.error());
    if (is_right(*fields)) return true;
    if (time >= until) return fail(step.place, "counters differ", std::move(*fields));
    (void)wait_for_frame(std::min(until, time + kPollInterval));
    if (outcome_.failure) return false;
  }
}

}  // namespace roce::conform
