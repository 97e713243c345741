// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/fuzz/answer_match.h"
#include "conform/fuzz/request_frame.h"
#include "conform/fuzz/requester_run.h"
#include "conform/fuzz/signature.h"
#include "conform/run/case_run.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

namespace {

/// A program while it runs.
class Runner {
 public:
  Runner(Bench& bench, const DeviceModel::Attributes& attributes, QpNumber qp)
      : bench_(bench), qp_(qp), model_(attributes, bench.target().port(), bench.memory()) {
    result_.regions = bench.regions();
  }

  [[nodiscard]] TargetResult<void> run(ActionSource& source) {
    try {
      return run_actions(source);
    } catch (const DeviceGone& gone) {
      raise(Oracle::gone, gone.what(), "no answer any more");
      return {};
    }
  }

  [[nodiscard]] ProgramResult take_result() { return std::move(result_); }

 private:
  [[nodiscard]] TargetResult<void> run_actions(ActionSource& source) {
    std::uint64_t before = 0;
    while (!result_.alarm) {
      std::optional<Action> action = source.next(model_);
      if (!action) break;
      result_.turns.push_back({.action = std::move(*action)});
      Turn& turn = result_.turns.back();
      if (const auto* receive = std::get_if<Receive>(&turn.action)) {
        if (TargetResult<void> posted = post(*receive, turn); !posted) return posted;
      } else {
        const unsigned state = model_.abstract_state();
        result_.states.push_back(state);
        do_request(std::get<Request>(turn.action), turn);
        const std::uint64_t signature = signature_of(turn, state);
        // The order of two signatures is worth knowing, too.
        result_.signatures.push_back(signature);
        result_.signatures.push_back(mix(before, signature));
        before = signature;
      }
    }
    if (!result_.alarm) check_end();
    result_.is_stopped = model_.state().is_stopped;
    // Nothing is under way on a QP that is reset, and its receives are gone.
    return bench_.target().modify(qp_, {.state = transport::QpState::reset});
  }

  void raise(Oracle oracle, std::string what, std::string place) {
    if (result_.alarm) return;
    result_.alarm = Alarm{.oracle = oracle,
                          .action = result_.turns.empty() ? 0 : result_.turns.size() - 1,
                          .what = std::move(what),
                          .place = fmt::format("{}: {}", to_string(oracle), place)};
  }

  [[nodiscard]] TargetResult<void> post(const Receive& receive, Turn& turn) {
    turn.wr_id = receives_++;
    turn.buffer = bench_.next_buffer(std::min(receive.length, kReceiveBytes));
    if (TargetResult<void> posted = bench_.target().post_receive(qp_, turn.wr_id, std::span{&turn.buffer, 1});
        !posted) {
      return posted;
    }
    if (model_.state().is_stopped) {
      turn.is_flushed = true;
      check_completion({.wr_id = turn.wr_id, .statuses = {transport::CompletionStatus::flushed}}, "flushed");
    } else {
      model_.post_receive({.wr_id = turn.wr_id, .address = turn.buffer.address, .length = turn.buffer.length});
    }
    return {};
  }

  void do_request(const Request& request, Turn& turn) {
    turn.frame = build_request(request, model_, bench_);
    turn.psn = model_.state().expected + static_cast<std::uint32_t>(request.psn);
    Target& target = bench_.target();
    if (!target.may_send(turn.frame)) {
      turn.frame.clear();
      turn.expectation = {Behaviour{.name = "not sent"}};
      turn.taken = 0;
      return;
    }
    const Packet packet = parse_frame(turn.frame, LinkType::ethernet);
    turn.expectation = model_.judge(packet);
    bench_.monitor().take_sent(packet, target.now());
    target.send(turn.frame);
    ++result_.frames;
    collect(turn);
    if (result_.alarm) return;
    const auto taken =
        std::ranges::find_if(turn.expectation, [&](const Behaviour& one) { return fits(one, turn.answers); });
    if (taken == turn.expectation.end()) return raise_answer(packet, turn);
    turn.taken = static_cast<std::size_t>(taken - turn.expectation.begin());
    model_.apply(*taken);
    if (taken->unknown) accept(*taken->unknown);
    for (const ReceiveDone& done : taken->completions) check_completion(done, taken->name);
  }

  /// Takes what the device sends until it is silent. Once its answer is whole, only what is there already is awaited:
  /// a frame too many shows at the next action.
  void collect(Turn& turn) {
    Target& target = bench_.target();
    const auto is_whole = [&](const Behaviour& one) { return !one.answers.empty() && fits(one, turn.answers); };
    for (;;) {
      const bool is_answered = std::ranges::any_of(turn.expectation, is_whole);
      const Duration patience = is_answered ? Duration{} : bench_.timing().quiet;
      std::optional<SeenFrame> frame = target.receive(target.now() + patience);
      if (!frame) return;
      ++result_.frames;
      const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
      // A CNP answers a mark, not a request.
      if (packet.is_roce() && packet.opcode() == Opcode::cnp && is_marked(turn.frame)) continue;
      const std::optional<std::string> wrong = bench_.monitor().judge(packet, target.port(), frame->time);
      turn.answers.push_back(std::move(*frame));
      if (wrong) return raise(Oracle::form, *wrong, *wrong);
    }
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
    const std::string_view name = request.is_roce() ? request.info().name : std::string_view{"no RoCE"};
    raise(Oracle::answer, fmt::format("{} PSN {}: allowed is {}; seen {}", name, turn.psn.value(), allowed, seen),
          fmt::format("{}, {} expected, seen {}", name, turn.expectation.front().name, kinds_of(turn.answers)));
  }

  void accept(const MemoryRange& range) {
    const std::uint64_t begin = bench_.memory().address();
    bench_.memory().write(range.address, bench_.target().read_memory(range.address - begin, range.length));
  }

  void check_completion(const ReceiveDone& done, const std::string& name) {
    if (result_.alarm) return;
    const std::optional<transport::Completion> completion = bench_.target().poll(qp_, true);
    const std::string_view wanted = to_string(done.statuses.front());
    if (!completion) {
      return raise(Oracle::completion,
                   fmt::format("no completion of receive {} ({}), expected: {}", done.wr_id, name, wanted),
                   fmt::format("missing after {}", name));
    }
    std::string wrong;
    if (completion->wr_id != done.wr_id) wrong = "request";
    if (std::ranges::find(done.statuses, completion->status) == done.statuses.end()) wrong = "status";
    if (wrong.empty() && completion->status == transport::CompletionStatus::success) {
      const auto opcode = done.is_write ? transport::CompletionOpcode::receive_write_with_immediate
                                        : transport::CompletionOpcode::receive;
      if (completion->byte_length != done.byte_length) wrong = "byte length";
      if (completion->has_immediate != done.immediate.has_value() ||
          (done.immediate && completion->immediate != *done.immediate)) {
        wrong = "immediate data";
      }
      if (completion->opcode != opcode) wrong = "opcode";
    }
    if (wrong.empty()) return;
    raise(
        Oracle::completion,
        fmt::format("the completion of receive {} has another {}: expected {}, {} bytes, seen receive {}, {}, {} bytes",
                    done.wr_id, wrong, wanted, done.byte_length, completion->wr_id, to_string(completion->status),
                    completion->byte_length),
        fmt::format("{} after {}", wrong, name));
  }

  /// At the end only: to ask costs a round trip to the agent.
  void check_no_completion() {
    for (const bool is_receive : {true, false}) {
      const auto completion = bench_.target().poll(qp_, is_receive);
      if (!completion) continue;
      const std::string status{to_string(completion->status)};
      return raise(Oracle::completion,
                   fmt::format("one completion too many: request {}, {}", completion->wr_id, status),
                   "too many: " + status);
    }
  }

  void check_end() {
    using transport::QpState;
    if (const auto frame = bench_.target().receive(bench_.target().now() + bench_.timing().quiet)) {
      return raise(Oracle::answer, fmt::format("a frame too many: {}", frame_text(*frame)),
                   "too many: " + kinds_of({*frame}));
    }
    const QpState expected = model_.state().is_stopped ? QpState::err : QpState::rts;
    const QpState state = bench_.target().state(qp_);
    if (state != expected) {
      return raise(Oracle::state, fmt::format("the QP is in {}, expected {}", to_string(state), to_string(expected)),
                   fmt::format("{} for {}", to_string(state), to_string(expected)));
    }
    check_no_completion();
    if (!result_.alarm) check_memory();
  }

  void check_memory() {
    const std::optional<std::size_t> place = bench_.target().find_difference(bench_.memory().bytes());
    if (!place) return;
    const std::uint64_t address = bench_.memory().address() + *place;
    const std::byte seen = bench_.target().read_memory(*place, 1)[0];
    raise(Oracle::memory,
          fmt::format("the byte at 0x{:x} is 0x{:02x}, expected 0x{:02x}", address, std::to_integer<unsigned>(seen),
                      std::to_integer<unsigned>(bench_.memory().bytes()[*place])),
          "changed");
  }

  [[nodiscard]] std::uint64_t signature_of(const Turn& turn, unsigned state_before) const {
    const auto& request = std::get<Request>(turn.action);
    std::uint64_t signature = mix(state_before, static_cast<std::uint64_t>(request.opcode));
    signature = mix(signature, request.psn == 0 ? 0U : request.psn > 0 ? 1U : 2U);
    signature = mix(signature, (request.changes.empty() ? 0U : 1U) + (request.wrong_icrc ? 2U : 0U));
    signature = mix(signature, static_cast<std::uint64_t>(request.key));
    if (turn.taken) {
      for (const char letter : turn.expectation[*turn.taken].name)
        signature = mix(signature, static_cast<unsigned char>(letter));
    }
    return mix(signature, model_.abstract_state());
  }

  Bench& bench_;
  QpNumber qp_;
  DeviceModel model_;
  ProgramResult result_{};
  std::uint64_t receives_ = 0;
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
    case Oracle::gone:
      break;
  }
  return "gone";
}

TargetResult<ProgramResult> run_program(Bench& bench, const Program& program, ActionSource& source) {
  QpSetup setup;
  setup.path_mtu = program.path_mtu;
  setup.rq_psn = program.first_psn;
  setup.access = program.access;
  setup.peer = bench.next_peer();
  const TargetResult<QpNumber> qp = bench.target().create_qp(setup);
  if (!qp) return tl::unexpected(qp.error());
  const DeviceModel::Attributes attributes{.qpn = bench.target().qpn(*qp),
                                           .path_mtu = setup.path_mtu,
                                           .first_psn = setup.rq_psn,
                                           .access = setup.access,
                                           .rnr_timer = setup.min_rnr_timer,
                                           .rd_atomic_depth = setup.max_dest_rd_atomic};
  Runner runner{bench, attributes, *qp};
  if (const TargetResult<void> done = runner.run(source); !done) return tl::unexpected(done.error());
  ProgramResult result = runner.take_result();
  result.program = program;
  result.program.actions.clear();
  for (const Turn& turn : result.turns) result.program.actions.push_back(turn.action);
  return result;
}

TargetResult<ProgramResult> run_program(Bench& bench, const Program& program) {
  if (program.is_for_requester) {
    std::size_t next = 0;
    return run_requester(bench, program, [&](const RequesterModel&) -> std::optional<Action> {
      if (next == program.actions.size()) return std::nullopt;
      return program.actions[next++];
    });
  }
  Listed source{program.actions};
  return run_program(bench, program, source);
}

}  // namespace roce::conform::fuzz
