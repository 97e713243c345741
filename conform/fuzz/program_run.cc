// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/fuzz/answer_match.h"
#include "conform/fuzz/event_match.h"
#include "conform/fuzz/manager_run.h"
#include "conform/fuzz/program_runner.h"
#include "conform/fuzz/program_window.h"
#include "conform/fuzz/request_frame.h"
#include "conform/fuzz/requester_run.h"
#include "conform/fuzz/signature.h"
#include "conform/run/case_run.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

namespace {

/// A program for the device's responder.
class ResponderRunner final : public ProgramRunner {
 public:
  ResponderRunner(Bench& bench, const Port& port, const QpSetup& setup, Gate::Reserved qp, ActionSource& source)
      : ProgramRunner(bench, port, std::move(qp), setup.peer, half_of(setup.type)),
        setup_(setup),
        model_(attributes_of(setup, qpn(), bench), port, bench.memory()),
        window_(bench, this->qp()),
        source_(source) {}

 private:
  static std::string_view half_of(transport::QpType type) {
    if (type == transport::QpType::rc) return "";
    return type == transport::QpType::uc ? "UC, " : "UD, ";
  }
  static DeviceModel::Attributes attributes_of(const QpSetup& setup, Qpn qpn, Bench& bench) {
    DeviceModel::Attributes attributes = DeviceModel::attributes_of(setup, qpn, bench.target().port_mtu());
    attributes.has_windows =
        setup.type == transport::QpType::rc && setup.state == transport::QpState::rts && bench.target().has("type2_mw");
    return attributes;
  }
  [[nodiscard]] std::optional<Action> next_action() override { return source_.next(model_); }
  [[nodiscard]] bool is_stopped() const override { return model_.state().is_stopped; }
  [[nodiscard]] unsigned state() const override { return model_.abstract_state(); }

  [[nodiscard]] TargetResult<void> carry_out(Turn& turn) override {
    if (const auto* receive = std::get_if<Receive>(&turn.action)) return post(*receive, turn);
    if (const auto* again = std::get_if<Restart>(&turn.action)) return restart(*again, turn);
    if (const auto* binding = std::get_if<Bind>(&turn.action)) return bind(*binding, turn);
    if (std::holds_alternative<Deregister>(turn.action)) return bench().deregister_lent();
    do_request(std::get<Request>(turn.action), turn);
    return {};
  }

  [[nodiscard]] TargetResult<void> restart(const Restart& again, Turn& turn) {
    turn.psn = model_.state().expected + static_cast<std::uint32_t>(again.psn);
    setup_.rq_psn = turn.psn;
    model_.restart(turn.psn);
    bench().monitor().forget();
    // Whether a window outlives a RESET is left to the device.
    return let_go().and_then([&] { return target().modify(qp(), {.state = transport::QpState::reset}); }).and_then([&] {
      return target().bring_up(qp(), setup_);
    });
  }

  [[nodiscard]] TargetResult<void> let_go() override {
    model_.free_window();
    return window_.destroy();
  }

  [[nodiscard]] TargetResult<void> bind(const Bind& bind, Turn& turn) {
    turn.bind = model_.judge(bind);
    if (turn.bind == BindOutcome::none) return {};
    turn.wr_id = binds_++;
    const auto pass_time = [&] {
      if (std::optional<Received> received = receive(bench().timing().quiet)) {
        turn.answers.push_back(std::move(received->frame));
      }
    };
    const TargetResult<ProgramWindow::Bound> bound = window_.bind(bind, turn.wr_id, pass_time);
    if (!bound) return tl::unexpected(bound.error());
    if (!turn.answers.empty()) {
      raise(Oracle::answer, fmt::format("a frame too many at a binding: {}", frame_text(turn.answers.front())),
            "too many: " + kinds_of(turn.answers));
      return {};
    }
    // A library may refuse what the device would.
    if (!bound->is_taken && turn.bind != BindOutcome::bound) {
      turn.bind = BindOutcome::none;
      return {};
    }
    if (!check_bound(bound->completion, turn)) return {};
    if (turn.bind == BindOutcome::bound) {
      if (bound->reported_key != bound->window.r_key) {
        raise_key(bound->reported_key, bound->window.r_key);
        return {};
      }
      model_.bind_window(bound->window, bind.access);
      bench().set_window(bound->window);
    } else if (turn.bind == BindOutcome::refused) {
      turn.flushed = model_.stop();
      for (const ReceiveDone& done : turn.flushed) take_completion(done, "refused binding");
    }
    return {};
  }

  void raise_key(std::uint32_t seen, std::uint32_t expected) {
    raise(Oracle::state, fmt::format("the bound window has R_Key 0x{:08x}, expected 0x{:08x}", seen, expected),
          "R_Key of a bound window");
  }

  /// Judges the completion of a binding; false if it raises an alarm.
  bool check_bound(const std::optional<transport::Completion>& completion, const Turn& turn) {
    const std::string_view expected = to_string(statuses_of(turn.bind).front());
    const std::string_view seen = completion ? to_string(completion->status) : "none";
    const std::string wrong = completion ? find_mistake(*completion, turn.wr_id, turn.bind) : "status";
    if (wrong.empty()) return true;
    raise(Oracle::completion,
          fmt::format("the completion of binding {} has another {}: expected {}, seen {}", turn.wr_id, wrong, expected,
                      seen),
          fmt::format("{} of a binding, {} expected, seen {}", wrong, expected, seen));
    return false;
  }

  [[nodiscard]] TargetResult<void> post(const Receive& receive, Turn& turn) {
    turn.wr_id = receives_++;
    turn.buffer = bench().next_buffer(std::min(receive.length, kReceiveBytes));
    if (TargetResult<void> posted = target().post_receive(qp(), turn.wr_id, std::span{&turn.buffer, 1}); !posted) {
      return posted;
    }
    if (model_.state().is_stopped) {
      turn.is_flushed = true;
      take_completion({.wr_id = turn.wr_id, .statuses = {transport::CompletionStatus::flushed}}, "flushed");
    } else {
      model_.post_receive({.wr_id = turn.wr_id, .address = turn.buffer.address, .length = turn.buffer.length});
    }
    return {};
  }

  void do_request(const Request& request, Turn& turn) {
    turn.frame = build_request(request, model_, bench(), port());
    turn.psn = model_.state().expected + static_cast<std::uint32_t>(request.psn);
    const std::optional<Packet> packet = send(turn);
    if (!packet) {
      turn.expectation = {Behaviour{.name = "not sent"}};
      turn.taken = 0;
      return;
    }
    turn.expectation = model_.judge(*packet);
    collect(turn);
    if (has_alarm()) return;
    // A completion is all that tells what was done if nothing is ever answered.
    const bool is_silent = model_.attributes().type != transport::QpType::rc;
    const auto completion = is_silent ? target().poll(qp(), true) : std::nullopt;
    const auto taken = std::ranges::find_if(turn.expectation, [&](const Behaviour& one) {
      return fits(one, turn.answers) && (!is_silent || one.completions.empty() != completion.has_value());
    });
    if (taken == turn.expectation.end()) {
      const bool is_quiet =
          std::ranges::any_of(turn.expectation, [&](const auto& one) { return fits(one, turn.answers); });
      return is_quiet ? raise_completion(*packet, turn, completion) : raise_answer(*packet, turn);
    }
    turn.taken = static_cast<std::size_t>(taken - turn.expectation.begin());
    if (taken->unknown) accept(*taken->unknown);
    model_.apply(*taken);
    for (const ReceiveDone& done : taken->completions) {
      if (is_silent) {
        check_completion(done, taken->name, *completion);
      } else {
        take_completion(done, taken->name);
      }
    }
  }

  /// Takes what the device sends until it is silent. Once its answer is whole, only what is there already is awaited:
  /// a frame too many shows at the next action.
  void collect(Turn& turn) {
    for (;;) {
      std::optional<Received> received = receive(patience_of(turn));
      if (!received) return;
      // A CNP answers a mark, not a request.
      const bool is_cnp = received->packet.is_roce() && received->packet.opcode() == Opcode::cnp;
      if (is_cnp && is_marked(turn.frame)) continue;
      const std::optional<std::string> wrong = bench().monitor().judge(received->packet, port(), received->frame.time);
      turn.answers.push_back(std::move(received->frame));
      if (wrong) return raise(Oracle::form, *wrong, *wrong);
    }
  }

  /// Returns how long the device may still take for the next frame of its answer.
  [[nodiscard]] Duration patience_of(const Turn& turn) {
    bool may_be_silent = false;
    for (const Behaviour& one : turn.expectation) {
      if (!fits(one, turn.answers)) continue;
      if (!one.answers.empty()) return {};
      may_be_silent = true;
    }
    return may_be_silent || !turn.answers.empty() ? bench().timing().quiet : bench().timing().answer;
  }

  static std::string_view name_of(const Packet& request) {
    return request.is_roce() ? request.info().name : std::string_view{"no RoCE"};
  }

  void raise_completion(const Packet& request, const Turn& turn,
                        const std::optional<transport::Completion>& completion) {
    const std::string_view expected = turn.expectation.front().name;
    const std::string seen = completion ? fmt::format("a completion, {}", to_string(completion->status)) : "none";
    raise(Oracle::completion,
          fmt::format("{} PSN {} is to be {}: seen {}", name_of(request), turn.psn.value(), expected, seen),
          fmt::format("{}, {} expected, seen {}", name_of(request), expected, seen));
  }

  void raise_answer(const Packet& request, const Turn& turn) {
    std::string allowed;
    for (const Behaviour& one : turn.expectation) {
      allowed += fmt::format("{}{}", allowed.empty() ? "" : "; or ", text_of(one));
    }
    std::string seen;
    for (const SeenFrame& frame : turn.answers) {
      seen += fmt::format("{}{}", seen.empty() ? "" : ", ", frame_text(frame));
    }
    if (seen.empty()) seen = "nothing";
    const std::string_view name = name_of(request);
    raise(Oracle::answer, fmt::format("{} PSN {}: allowed is {}; seen {}", name, turn.psn.value(), allowed, seen),
          fmt::format("{}, {} expected, seen {}", name, turn.expectation.front().name, kinds_of(turn.answers)));
  }

  void accept(const MemoryRange& range) {
    const std::uint64_t begin = bench().memory().address();
    bench().memory().write(range.address, target().read_memory(range.address - begin, range.length));
  }

  /// Takes the next completion, which has to be there.
  void take_completion(const ReceiveDone& done, const std::string& name) {
    if (has_alarm()) return;
    if (const auto completion = target().poll(qp(), true)) return check_completion(done, name, *completion);
    raise(Oracle::completion,
          fmt::format("no completion of receive {} ({}), expected: {}", done.wr_id, name,
                      to_string(done.statuses.front())),
          fmt::format("missing after {}", name));
  }

  void check_completion(const ReceiveDone& done, const std::string& name, const transport::Completion& completion) {
    std::string wrong;
    if (completion.wr_id != done.wr_id) wrong = "request";
    if (std::ranges::find(done.statuses, completion.status) == done.statuses.end()) wrong = "status";
    if (wrong.empty() && completion.status == transport::CompletionStatus::success) {
      const auto opcode = done.is_write ? transport::CompletionOpcode::receive_write_with_immediate
                                        : transport::CompletionOpcode::receive;
      if (completion.byte_length != done.byte_length) wrong = "byte length";
      if (completion.has_immediate != done.immediate.has_value() ||
          (done.immediate && completion.immediate != *done.immediate)) {
        wrong = "immediate data";
      }
      if (done.source_qp && completion.source_qp != *done.source_qp) wrong = "source QP";
      if (completion.has_invalidated != done.invalidated.has_value() ||
          (done.invalidated && completion.invalidated.value() != *done.invalidated)) {
        wrong = "invalidated key";
      }
      if (completion.opcode != opcode) wrong = "opcode";
    }
    if (wrong.empty()) return;
    raise(
        Oracle::completion,
        fmt::format("the completion of receive {} has another {}: expected {}, {} bytes, seen receive {}, {}, {} bytes",
                    done.wr_id, wrong, to_string(done.statuses.front()), done.byte_length, completion.wr_id,
                    to_string(completion.status), completion.byte_length),
        fmt::format("{} after {}", wrong, name));
  }

  /// At the end only: to ask costs a round trip to the agent.
  void check_no_completion() {
    for (const bool is_receive : {true, false}) {
      const auto completion = target().poll(qp(), is_receive);
      if (!completion) continue;
      const std::string status{to_string(completion->status)};
      return raise(Oracle::completion,
                   fmt::format("one completion too many: request {}, {}", completion->wr_id, status),
                   "too many: " + status);
    }
  }

  void check_end() override {
    using transport::QpState;
    if (const auto received = receive(bench().timing().quiet)) {
      return raise(Oracle::answer, fmt::format("a frame too many: {}", frame_text(received->frame)),
                   "too many: " + kinds_of({received->frame}));
    }
    const QpState expected = model_.state().is_stopped ? QpState::err : model_.attributes().state;
    const QpState state = target().state(qp());
    if (state != expected) {
      return raise(Oracle::state, fmt::format("the QP is in {}, expected {}", to_string(state), to_string(expected)),
                   fmt::format("{} for {}", to_string(state), to_string(expected)));
    }
    check_no_completion();
    if (!has_alarm()) check_memory();
  }

  void check_events(const std::vector<transport::EventType>& seen) override {
    result().events = model_.events();
    // The events of QPs of other types are left open.
    if (model_.attributes().type != transport::QpType::rc) return;
    const std::optional<EventMismatch> mismatch = find_mismatch(model_.events(), seen);
    if (!mismatch) return;
    const auto name = [](const std::optional<transport::EventType>& event) {
      return event ? to_string(*event) : std::string_view{"none"};
    };
    raise(Oracle::event, fmt::format("expected event {}, seen: {}", name(mismatch->expected), name(mismatch->seen)),
          fmt::format("{} expected, seen {}", name(mismatch->expected), name(mismatch->seen)));
  }

  void check_memory() {
    const std::optional<std::size_t> place = target().find_difference(bench().memory().bytes());
    if (!place) return;
    const std::uint64_t address = bench().memory().address() + *place;
    const std::byte seen = target().read_memory(*place, 1)[0];
    raise(Oracle::memory,
          fmt::format("the byte at 0x{:x} is 0x{:02x}, expected 0x{:02x}", address, std::to_integer<unsigned>(seen),
                      std::to_integer<unsigned>(bench().memory().bytes()[*place])),
          "changed");
  }

  [[nodiscard]] std::optional<std::uint64_t> signature_of(const Turn& turn, unsigned state_before) const override {
    if (std::holds_alternative<Receive>(turn.action)) return std::nullopt;
    if (!std::holds_alternative<Request>(turn.action)) {
      const std::uint64_t what = mix(state_before, kNoRequest + turn.action.index());
      return mix(turn.bind == BindOutcome::none ? what : mix(what, static_cast<std::uint64_t>(turn.bind)),
                 model_.abstract_state());
    }
    const auto& request = std::get<Request>(turn.action);
    // Which QPNs other QPs have, and so what the gate keeps back, is another matter on each device.
    if (turn.frame.empty() || request.qpn_flip != 0) return std::nullopt;
    std::uint64_t signature = mix(state_before, static_cast<std::uint64_t>(request.opcode));
    signature = mix(signature, request.psn == 0 ? 0U : request.psn > 0 ? 1U : 2U);
    signature = mix(signature, (request.changes.empty() ? 0U : 1U) + (request.wrong_icrc ? 2U : 0U) +
                                   (request.other_version ? 4U : 0U) + (request.q_key_flip != 0 ? 8U : 0U));
    signature = mix(signature, static_cast<std::uint64_t>(request.key));
    if (turn.taken) {
      for (const char letter : turn.expectation[*turn.taken].name)
        signature = mix(signature, static_cast<unsigned char>(letter));
    }
    return mix(signature, model_.abstract_state());
  }

  // No opcode: they have eight bits.
  static constexpr std::uint64_t kNoRequest = 0x100;

  QpSetup setup_;
  DeviceModel model_;
  ProgramWindow window_;
  ActionSource& source_;
  std::uint64_t receives_ = 0;
  std::uint64_t binds_ = 0;
};

/// The actions of a program as they stand there.
class Listed final : public ActionSource {
 public:
  explicit Listed(const std::vector<Action>& actions) : actions_(actions) {}
  [[nodiscard]] std::optional<Action> next(const DeviceModel& /*model*/) override {
    if (next_ == actions_.size()) return std::nullopt;
    return actions_[next_++];
  }

 private:
  const std::vector<Action>& actions_;
  std::size_t next_ = 0;
};

}  // namespace

std::string_view to_string(Oracle oracle) {
  switch (oracle) {
    case Oracle::answer:
      return "answer";
    case Oracle::form:
      return "form";
    case Oracle::completion:
      return "completion";
    case Oracle::state:
      return "state";
    case Oracle::memory:
      return "memory";
    case Oracle::secret:
      return "secret";
    case Oracle::event:
      return "event";
    case Oracle::counters:
      return "counters";
    case Oracle::liveness:
      return "liveness";
    case Oracle::gone:
      break;
  }
  return "gone";
}

TargetResult<ProgramResult> run_program(Bench& bench, const Program& program, ActionSource& source) {
  const Port* port = bench.port_of(program);
  if (port == nullptr) return tl::unexpected(std::string{kNoPort});
  QpSetup setup;
  setup.type = program.type;
  setup.version = program.version;
  setup.state = program.state;
  setup.path_mtu = program.path_mtu;
  setup.rq_psn = program.first_psn;
  setup.access = program.access;
  setup.peer = bench.next_peer();
  TargetResult<Gate::Reserved> qp = bench.gate().make_qp(bench.target(), setup);
  if (!qp) return tl::unexpected(qp.error());
  return ResponderRunner{bench, *port, setup, std::move(*qp), source}.run(program);
}

TargetResult<ProgramResult> run_program(Bench& bench, const Program& program) {
  const auto listed = [&program, next = std::size_t{0}](const auto& /*model*/) mutable -> std::optional<Action> {
    if (next == program.actions.size()) return std::nullopt;
    return program.actions[next++];
  };
  if (program.half == Half::manager) return run_manager(bench, program, listed);
  if (program.half == Half::requester) return run_requester(bench, program, listed);
  Listed source{program.actions};
  return run_program(bench, program, source);
}

}  // namespace roce::conform::fuzz
