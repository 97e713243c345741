// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/requester_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/fuzz/answer_match.h"
#include "conform/fuzz/device_model.h"
#include "conform/fuzz/program_runner.h"
#include "conform/fuzz/request_frame.h"
#include "conform/fuzz/signature.h"
#include "conform/run/case_run.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint32_t kAtomicBytes = 8;
// Bit 31 asks for the QP's own.
constexpr QKey kOwnQKey{0x8000'0001};

/// A program for the device's requester.
class RequesterRunner final : public ProgramRunner {
 public:
  RequesterRunner(Bench& bench, const Port& port, const RequesterModel::Attributes& attributes, QpNumber qp,
                  const RequesterSource& source)
      : ProgramRunner(bench, port, qp, half_of(attributes.type)), model_(attributes, bench.memory()), source_(source) {}

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
    respond(std::get<Response>(turn.action), turn);
    return {};
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
    if (!has_alarm() && is_clean && turn.answers.size() != expected) {
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
    turn.frame = build_response(response, turn.psn, target().qpn(qp()), port());
    const std::optional<Packet> packet = send(turn);
    if (!packet) return;
    if (response.qpn_flip == 0) model_.take_response(*packet);
    collect(turn);
    if (const auto psn = model_.unrepeated(); psn && !has_alarm()) {
      result().unrepeated = psn;
      raise(Oracle::answer, fmt::format("PSN {} is missing, as the NAK said, and is not sent again", psn->value()),
            "not sent again" + place_of(turn));
    }
    take_completions(turn);
  }

  void collect(Turn& turn) {
    while (!has_alarm()) {
      std::optional<SeenFrame> frame = receive(bench().timing().quiet);
      if (!frame) return;
      const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
      const std::optional<std::string> bad_form = bench().monitor().judge(packet, port(), frame->time);
      const std::optional<std::string> wrong = model_.judge_request(packet);
      if (bad_form) raise(Oracle::form, *bad_form, *bad_form);
      if (wrong)
        raise(Oracle::answer, fmt::format("{}: {}", frame_text(*frame), *wrong), kinds_of({*frame}) + place_of(turn));
      turn.answers.push_back(std::move(*frame));
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

  /// Returns what the device did last, or what it was answered, in a few words.
  static std::string place_of(const Turn& turn) {
    const auto* response = std::get_if<Response>(&turn.action);
    if (response == nullptr) return " after a post";
    return fmt::format(" after {} 0x{:02x}{}", opcode_info(response->opcode).name, response->syndrome,
                       response->psn == 0 ? "" : ", other PSN");
  }

  void check_end() override {
    using transport::QpState;
    const QpState state = target().state(qp());
    const bool is_wrong =
        (model_.is_stopped() && state != QpState::err) || (model_.is_clean() && state != QpState::rts);
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
    }
    for (const transport::Completion& completion : turn.completions) {
      signature = mix(signature, static_cast<std::uint64_t>(completion.status));
    }
    return mix(mix(signature, std::min<std::size_t>(turn.answers.size(), 3)), model_.abstract_state());
  }

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
  const TargetResult<QpNumber> qp = bench.target().create_qp(setup);
  if (!qp) return tl::unexpected(qp.error());
  const RequesterModel::Attributes attributes{.type = setup.type,
                                              .own = bench.target().qpn(*qp),
                                              .q_key = setup.q_key,
                                              .peer = setup.peer,
                                              .path_mtu = setup.path_mtu,
                                              .first_psn = setup.sq_psn};
  return RequesterRunner{bench, *port, attributes, *qp, source}.run(program);
}

}  // namespace roce::conform::fuzz
