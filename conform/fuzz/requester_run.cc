// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/requester_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "conform/fuzz/answer_match.h"
#include "conform/fuzz/device_model.h"
#include "conform/fuzz/program_runner.h"
#include "conform/fuzz/request_frame.h"
#include "conform/fuzz/signature.h"
#include "conform/run/case_run.h"
#include "roce/wire/aeth.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint32_t kAtomicBytes = 8;
// Bit 31 asks for the QP's own.
constexpr QKey kOwnQKey{0x8000'0001};
// IBTA 9.7.6.1.3: an ACK timer takes at least its time, and at most four times as long.
constexpr Duration kAckTimer = std::chrono::nanoseconds{std::uint64_t{4096} << kAckTimeout};
constexpr int kMostAckTimeouts = 4;

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>{time}.count();
}

/// A program for the device's requester.
class RequesterRunner final : public ProgramRunner {
 public:
  RequesterRunner(Bench& bench, const Port& port, const RequesterModel::Attributes& attributes, Gate::Reserved qp,
                  const RequesterSource& source)
      : ProgramRunner(bench, port, std::move(qp), attributes.peer, half_of(attributes.type)),
        model_(attributes, bench.memory()),
        source_(source) {}

 private:
  static std::string_view half_of(transport::QpType type) {
    if (type == transport::QpType::rc) return "requester, ";
    return type == transport::QpType::uc ? "UC requester, " : "UD requester, ";
  }
  [[nodiscard]] std::optional<Action> next_action() override { return source_(model_); }
  [[nodiscard]] bool is_stopped() const override { return model_.is_stopped(); }
  [[nodiscard]] unsigned state() const override { return DeviceModel::kStates + model_.abstract_state(); }

  [[nodiscard]] TargetResult<void> carry_out(Turn& turn) override {
    if (const auto* post = std::get_if<Post>(&turn.action)) return do_post(*post, turn);
    if (const auto* response = std::get_if<Response>(&turn.action)) {
      respond(*response, turn);
    } else {
      wait(turn);
    }
    return {};
  }

  void wait(Turn& turn) {
    // Only an RC QP waits for answers.
    if (model_.open().empty() || model_.attributes().type != transport::QpType::rc) return;
    const bool is_judged = model_.is_clean() && !model_.is_stopped();
    const Psn oldest = turn.psn = model_.oldest();
    turn.wr_id = model_.open().front().wr_id;
    const bool has_retries = model_.retries().may_send_again();
    const Time since = model_.timer_since();
    if (is_judged && has_retries) result().unrepeated = oldest;
    if (is_judged && !has_retries) result().exhausted = turn.wr_id;
    collect(turn, kMostAckTimeouts * kAckTimer + bench().timing().answer);
    take_completions(turn);
    const std::optional<std::string> wrong = model_.end_turn(true);
    if (wrong) {
      raise(Oracle::answer, fmt::format("request {} is sent again after the ACK timeout: {}", turn.wr_id, *wrong),
            "one retry too many");
    }
    if (is_judged && turn.completions.empty()) judge_repetition(turn, oldest);
    if (is_judged && !turn.answers.empty()) judge_time(turn, turn.answers.front().time - since, kAckTimer, "ACK timer");
    if (has_alarm()) return;
    result().unrepeated.reset();
    result().exhausted.reset();
  }

  /// Judges how long after the begin of a timer the device sent something again.
  void judge_time(const Turn& turn, Duration after, Duration least, std::string_view timer) {
    if (after + bench().timing().early >= least) return;
    result().least_wait = least;
    result().unrepeated = parse_frame(turn.answers.front().bytes, LinkType::ethernet).bth().psn;
    raise(Oracle::answer,
          fmt::format("PSN {} is sent again {:.3f} ms after the begin of the {}, expected at least {:.3f} ms",
                      result().unrepeated->value(), milliseconds(after), timer, milliseconds(least)),
          fmt::format("before the end of the {}", timer));
  }

  /// Judges what came after the ACK timeout.
  void judge_repetition(const Turn& turn, Psn oldest) {
    const bool is_repeated = std::ranges::any_of(turn.answers, [&](const SeenFrame& frame) {
      return parse_frame(frame.bytes, LinkType::ethernet).bth().psn == oldest;
    });
    if (is_repeated) return;
    raise(Oracle::answer,
          fmt::format("PSN {} is not answered, and {} after {} ACK timeouts", oldest.value(),
                      result().exhausted ? "its request does not fail" : "is not sent again", kMostAckTimeouts),
          result().exhausted ? "no end of retries" : "no retry");
  }

  [[nodiscard]] TargetResult<void> do_post(const Post& post, Turn& turn) {
    const bool is_atomic =
        post.opcode == transport::WorkOpcode::fetch_add || post.opcode == transport::WorkOpcode::compare_swap;
    turn.wr_id = posts_++;
    const std::uint64_t place = (turn.wr_id % kMostPosts) * kPostBytes;
    turn.buffer = {.address = bench().regions().right.address + place,
                   .length = is_atomic ? kAtomicBytes : std::min(post.length, kPostBytes),
                   .l_key = LKey{bench().regions().right.l_key}};
    turn.psn = model_.next();
    SendOrder order{.data = turn.buffer};
    order.request.wr_id = turn.wr_id;
    order.request.opcode = post.opcode;
    order.request.remote = {.address = kRemote + place, .r_key = RKey{kRemoteKey}};
    order.request.datagram.qpn = model_.attributes().peer;
    order.request.datagram.q_key = post.own_q_key ? kOwnQKey : kRemoteQKey;
    if (TargetResult<void> posted = target().post_send(qp(), order); !posted) return posted;
    const bool is_clean = model_.is_clean();
    model_.post({.wr_id = turn.wr_id,
                 .opcode = post.opcode,
                 .local = turn.buffer.address,
                 .length = turn.buffer.length,
                 .remote = kRemote + place,
                 .own_q_key = post.own_q_key});
    collect(turn);
    const bool has_answer = post.opcode == transport::WorkOpcode::read || is_atomic;
    const std::size_t expected = has_answer ? 1 : model_.open().back().psns;
    (void)model_.end_turn(false);
    if (!has_alarm() && is_clean && !model_.is_stopped() && turn.answers.size() != expected) {
      raise(Oracle::answer,
            fmt::format("request {}: {} frames sent, expected {}", turn.wr_id, turn.answers.size(), expected),
            "number of frames of a request");
    }
    take_completions(turn);
    return {};
  }

  void respond(const Response& response, Turn& turn) {
    const Psn oldest =
        model_.open().empty() ? model_.next() : model_.open().front().first + model_.open().front().answered;
    turn.psn = oldest + static_cast<std::uint32_t>(response.psn);
    turn.frame = build_response(response, turn.psn, qpn(), port());
    const std::optional<Packet> packet = send(turn);
    if (!packet) return;
    if (response.qpn_flip == 0) model_.take_response(*packet, target().now());
    const Time since = target().now();
    const std::optional<Duration> wait = response.qpn_flip == 0 ? model_.rnr_wait() : std::nullopt;
    collect(turn, wait ? *wait + bench().timing().answer : bench().timing().quiet);
    (void)model_.end_turn(false);
    if (const auto psn = model_.unrepeated(); psn && !has_alarm()) {
      result().unrepeated = psn;
      raise(Oracle::answer, fmt::format("PSN {} is missing, as the NAK said, and is not sent again", psn->value()),
            "not sent again" + place_of(turn));
    }
    if (wait && !has_alarm()) judge_time(turn, turn.answers.front().time - since, *wait, "RNR timer");
    take_completions(turn);
    if (wait && !has_alarm() && !turn.completions.empty() && model_.is_stopped()) {
      raise(Oracle::completion,
            fmt::format("request {} fails, and RNR retries are without end", turn.completions.front().wr_id),
            "fails after an RNR NAK");
    }
  }

  void collect(Turn& turn) { collect(turn, bench().timing().quiet); }

  /// Takes what the device sends until it is silent; the first frame may take `first` to come.
  void collect(Turn& turn, Duration first) {
    while (!has_alarm()) {
      std::optional<Received> received = receive(turn.answers.empty() ? first : bench().timing().quiet);
      if (!received) return;
      SeenFrame& frame = received->frame;
      const std::optional<std::string> bad_form = bench().monitor().judge(received->packet, port(), frame.time);
      const std::optional<std::string> wrong = model_.judge_request(received->packet, frame.time);
      if (bad_form) raise(Oracle::form, *bad_form, *bad_form);
      if (wrong)
        raise(Oracle::answer, fmt::format("{}: {}", frame_text(frame), *wrong), kinds_of({frame}) + place_of(turn));
      turn.answers.push_back(std::move(frame));
    }
  }

  /// Takes the completions that are there, and demands those that have to be.
  void take_completions(Turn& turn) {
    while (!has_alarm()) {
      const auto completion = target().poll(qp(), false);
      if (!completion) break;
      turn.completions.push_back(*completion);
      const Posted posted = model_.open().empty() ? Posted{} : model_.open().front();
      const std::optional<std::string> wrong = model_.judge_completion(*completion);
      if (!posted.data.empty() && completion->status == transport::CompletionStatus::success) {
        turn.writes.push_back({posted.local, posted.data});
      }
      if (!wrong) continue;
      const std::string status{to_string(completion->status)};
      raise(Oracle::completion, fmt::format("request {} completes with {}: {}", completion->wr_id, status, *wrong),
            status + place_of(turn));
    }
    if (has_alarm()) return;
    if (const auto missing = model_.find_missing()) {
      result().missing = model_.open().front().wr_id;
      raise(Oracle::completion, *missing, "missing" + place_of(turn));
    }
  }

  /// Returns the kind of a syndrome: devices hardly look further.
  static std::string_view kind_of(std::uint8_t syndrome) {
    switch (AethSyndrome{syndrome}.kind()) {
      case AethKind::ack:
        return "ACK";
      case AethKind::rnr_nak:
        return "RNR NAK";
      case AethKind::nak:
        return "NAK";
      case AethKind::reserved:
        break;
    }
    return "reserved syndrome";
  }

  /// Returns what the device did last, or what it was answered, in a few words.
  static std::string place_of(const Turn& turn) {
    const auto* response = std::get_if<Response>(&turn.action);
    if (response == nullptr) return std::holds_alternative<Wait>(turn.action) ? " after a timeout" : " after a post";
    return fmt::format(" after {}, {}{}", opcode_info(response->opcode).name, kind_of(response->syndrome),
                       response->psn == 0 ? "" : ", other PSN");
  }

  void check_end() override {
    using transport::QpState;
    const QpState state = target().state(qp());
    const bool is_wrong = (model_.is_stopped() && state != QpState::err) ||
                          (model_.is_clean() && !model_.is_stopped() && state != QpState::rts);
    if (is_wrong)
      return raise(Oracle::state, fmt::format("the QP is in {}", to_string(state)), std::string{to_string(state)});
    if (target().poll(qp(), true))
      return raise(Oracle::completion, "a receive completes, and none was posted", "receive");
    // Where an answer may have come in part, its bytes may be.
    for (const Turn& turn : result().turns) {
      const auto* post = std::get_if<Post>(&turn.action);
      const bool is_known = post == nullptr || post->opcode == transport::WorkOpcode::send ||
                            post->opcode == transport::WorkOpcode::write || has_succeeded(turn.wr_id);
      if (is_known) continue;
      const std::uint64_t offset = turn.buffer.address - bench().memory().address();
      bench().memory().write(turn.buffer.address, target().read_memory(offset, turn.buffer.length));
    }
    if (const auto place = target().find_difference(bench().memory().bytes())) {
      raise(Oracle::memory, fmt::format("the byte at 0x{:x} changed", bench().memory().address() + *place), "changed");
    }
  }

  [[nodiscard]] bool has_succeeded(std::uint64_t wr_id) const {
    return std::ranges::any_of(result().turns, [&](const Turn& turn) {
      return std::ranges::any_of(turn.completions, [&](const transport::Completion& completion) {
        return completion.wr_id == wr_id && completion.status == transport::CompletionStatus::success;
      });
    });
  }

  [[nodiscard]] std::optional<std::uint64_t> signature_of(const Turn& turn, unsigned state_before) const override {
    std::uint64_t signature = mix(DeviceModel::kStates, state_before - DeviceModel::kStates);
    if (const auto* post = std::get_if<Post>(&turn.action)) {
      signature = mix(signature, static_cast<std::uint64_t>(post->opcode));
    } else if (const auto* response = std::get_if<Response>(&turn.action)) {
      signature = mix(mix(signature, static_cast<std::uint64_t>(response->opcode)), response->syndrome >> 5U);
      signature = mix(signature, response->psn == 0 ? 0U : response->psn > 0 ? 1U : 2U);
      signature = mix(signature, (response->wrong_icrc ? 1U : 0U) + (response->qpn_flip != 0 ? 2U : 0U));
    } else {
      signature = mix(signature, kWaited + static_cast<std::uint64_t>(model_.retries().most()));
    }
    for (const transport::Completion& completion : turn.completions) {
      signature = mix(signature, static_cast<std::uint64_t>(completion.status));
    }
    return mix(mix(signature, std::min<std::size_t>(turn.answers.size(), 3)), model_.abstract_state());
  }

  // No work opcode.
  static constexpr std::uint64_t kWaited = 0x100;

  RequesterModel model_;
  const RequesterSource& source_;
  std::uint64_t posts_ = 0;
};

}  // namespace

TargetResult<ProgramResult> run_requester(Bench& bench, const Program& program, const RequesterSource& source) {
  const Port* port = bench.port_of(program);
  if (port == nullptr) return tl::unexpected(std::string{kNoPort});
  QpSetup setup;
  setup.type = program.type;
  setup.version = program.version;
  setup.path_mtu = program.path_mtu;
  setup.sq_psn = program.first_psn;
  setup.peer = bench.next_peer();
  setup.max_rd_atomic = kMostPosts;
  setup.timeout = kAckTimeout;
  setup.retry_count = program.retry_count;
  TargetResult<Gate::Reserved> qp = bench.gate().make_qp(bench.target(), setup);
  if (!qp) return tl::unexpected(qp.error());
  const RequesterModel::Attributes attributes{.type = setup.type,
                                              .own = qp->qpn(),
                                              .q_key = setup.q_key,
                                              .peer = setup.peer,
                                              .path_mtu = setup.path_mtu,
                                              .first_psn = setup.sq_psn,
                                              .retry_count = setup.retry_count};
  return RequesterRunner{bench, *port, attributes, std::move(*qp), source}.run(program);
}

}  // namespace roce::conform::fuzz
