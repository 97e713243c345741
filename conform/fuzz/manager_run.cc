// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/manager_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "conform/fuzz/manager_frame.h"
#include "conform/fuzz/program_runner.h"
#include "conform/fuzz/requester_model.h"
#include "conform/fuzz/signature.h"
#include "conform/run/cm_talk.h"
#include "conform/target/cm_service.h"
#include "conform/target/device_frame.h"
#include "roce/wire/cm_messages.h"

namespace roce::conform::fuzz {

namespace {

using transport::QpState;

// Half of what the ACK timeout of the REQ makes it, so that what is under way counts for nothing.
constexpr Duration kShortestTimewait = std::chrono::milliseconds{250};

/// A QP of the device that a connection is for, and what the tester says about that connection.
struct ManagedEnd {
  CmEnd end{};
  CmTalk talk{};
};

/// Returns a service that no other program has, whichever conversation it is of: each QPN of the tester is used once.
ServiceId service_of(Qpn peer) {
  constexpr std::uint32_t first = 8192;
  constexpr std::uint32_t per_conversation = 256;
  const std::uint32_t conversation = peer.value() >> 16U;
  return {PortSpace::tcp,
          static_cast<std::uint16_t>(first + conversation * per_conversation + peer.value() % per_conversation)};
}

/// A program for the device's communication manager.
class ManagerRunner final : public ProgramRunner {
 public:
  ManagerRunner(Bench& bench, const Port& port, CmService& service, Gate::Reserved qp, Gate::Reserved second,
                ManagedEnd first_end, ManagedEnd second_end, const ManagerSource& source)
      : ProgramRunner(bench, port, std::move(qp), kQp1, "manager, "),
        service_(service),
        second_(std::move(second)),
        ends_{std::move(first_end), std::move(second_end)},
        source_(source) {}

 private:
  [[nodiscard]] std::optional<Action> next_action() override { return source_(model_); }
  [[nodiscard]] bool is_stopped() const override {
    return model_.phase() == CmPhase::ended || model_.phase() == CmPhase::rejected;
  }
  [[nodiscard]] unsigned state() const override {
    return DeviceModel::kStates + RequesterModel::kStates + model_.abstract_state();
  }

  [[nodiscard]] TargetResult<void> carry_out(Turn& turn) override {
    if (const auto* message = std::get_if<Message>(&turn.action)) {
      exchange(*message, turn);
      return {};
    }
    return disconnect(turn);
  }

  void exchange(const Message& message, Turn& turn) {
    ManagedEnd& end = ends_.at(message.is_fresh ? 1 : 0);
    turn.frame = build_message(message, end.talk, port());
    if (model_.phase() == CmPhase::ended && target().now() - ended_ > kShortestTimewait) model_.lose_track();
    const std::optional<Packet> packet = send(turn);
    if (!packet) return;
    turn.cm = model_.judge(message);
    collect(turn, end.talk, patience_of(turn.cm));
    if (has_alarm()) return;
    const auto taken =
        std::ranges::find_if(turn.cm, [&](const CmBehaviour& one) { return is_taken(one, turn, *packet); });
    if (taken == turn.cm.end() && !turn.cm.empty()) return raise_answer(message, turn);
    const bool is_open = taken == turn.cm.end();
    if (!is_open) turn.taken = static_cast<std::size_t>(taken - turn.cm.begin());
    const bool was_ended = model_.phase() == CmPhase::ended;
    model_.apply(message, is_open ? nullptr : &*taken);
    if (!was_ended) ended_ = target().now();
    const std::size_t answers = turn.answers.size();
    take_reports(turn, is_open ? 0 : taken->events.size());
    if (is_open) return;
    if (turn.answers.size() != answers) return raise_answer(message, turn);
    check_reports(turn, taken->events);
  }

  /// Returns how long the device may take for its answer. Those of a communication manager come from a program, and one
  /// that comes late must not be taken for the answer to the next message.
  [[nodiscard]] Duration patience_of(const CmExpectation& expectation) const {
    const Timing& timing = bench().timing();
    const auto answers = std::ranges::count_if(expectation, [](const auto& one) { return one.answer.has_value(); });
    if (expectation.empty()) return std::max(timing.quiet, timing.late);
    if (answers == std::ssize(expectation)) return timing.answer;
    return answers == 0 ? timing.quiet : std::max(timing.quiet, timing.late);
  }

  /// True if the answers of a turn to a message are those of a behaviour.
  static bool is_taken(const CmBehaviour& behaviour, const Turn& turn, const Packet& message) {
    if (!behaviour.answer) return turn.answers.empty();
    return turn.answers.size() == 1 &&
           fits(behaviour, parse_frame(turn.answers.front().bytes, LinkType::ethernet), message);
  }

  /// Takes what the device sends until it is silent; the first frame may take `first` to come.
  void collect(Turn& turn, CmTalk& talk, Duration first) {
    while (!has_alarm()) {
      std::optional<Received> received = receive(turn.answers.empty() ? first : bench().timing().quiet);
      if (!received) return;
      talk.learn(received->packet);
      if (const auto rep = received->packet.get<CmRep>()) {
        take_qpn(talk, rep->local_qpn);
        CmTalk its = talk;
        its.local = rep->remote_comm_id;
        connections_.push_back(its);
      }
      turn.answers.push_back(std::move(received->frame));
    }
  }

  /// Takes over which QP the device has for a connection: the first one for whichever is asked for first.
  void take_qpn(CmTalk& talk, Qpn qpn) {
    talk.remote_qpn = qpn;
    ManagedEnd& its = &talk == &ends_.front().talk ? ends_.front() : ends_.back();
    ManagedEnd& other = &its == &ends_.front() ? ends_.back() : ends_.front();
    if (other.end.qpn == qpn) std::swap(its.end, other.end);
  }

  [[nodiscard]] TargetResult<void> disconnect(Turn& turn) {
    if (!model_.can_disconnect()) return {};
    ManagedEnd& first = ends_.front();
    turn.cm = {{.answer = CmKind::dreq, .next = CmPhase::leaving}};
    if (const TargetResult<void> done = service_.disconnect(first.end); !done) {
      raise(Oracle::answer, fmt::format("the device does not end its connection: {}", done.error()),
            "the device does not end its connection");
      return {};
    }
    collect(turn, first.talk, bench().timing().answer);
    if (has_alarm()) return {};
    const bool is_right = turn.answers.size() == 1 && is_end_of(first.talk, turn.answers.front());
    if (!is_right) {
      raise(Oracle::answer,
            fmt::format("the device is told to end its connection: expected CM_DREQ, seen {}", seen(turn)),
            fmt::format("CM_DREQ expected after an order, seen {}", seen(turn)));
      return {};
    }
    turn.taken = 0;
    model_.disconnect();
    return {};
  }

  static bool is_end_of(const CmTalk& talk, const SeenFrame& frame) {
    const auto dreq = parse_frame(frame.bytes, LinkType::ethernet).get<CmDreq>();
    return dreq && dreq->remote_comm_id == talk.local && dreq->local_comm_id == talk.remote;
  }

  /// Takes all reports of the device, of which so many have to come.
  void take_reports(Turn& turn, std::size_t expected) {
    const Time until = target().now() + bench().timing().answer;
    for (;;) {
      while (std::optional<CmReport> report = service_.poll_event()) {
        // Timewait is over some time, and perhaps that of another program.
        if (report->kind != "closed") turn.reports.push_back(std::move(*report));
      }
      if (turn.reports.size() >= expected || target().now() >= until) return;
      // Nothing is to be sent, so that this is how time passes.
      std::optional<Received> received = receive(bench().timing().quiet);
      if (received) turn.answers.push_back(std::move(received->frame));
    }
  }

  void check_reports(const Turn& turn, const std::vector<std::string_view>& expected) {
    const bool is_right = std::ranges::equal(turn.reports, expected, {},
                                             [](const CmReport& report) { return std::string_view{report.kind}; });
    if (is_right || has_alarm()) return;
    const auto name = [](const auto& names) {
      return names.empty() ? std::string{"none"} : fmt::format("{}", fmt::join(names, ", "));
    };
    std::vector<std::string_view> kinds;
    kinds.reserve(turn.reports.size());
    for (const CmReport& report : turn.reports) kinds.emplace_back(report.kind);
    const std::string what = name_of_turn(turn);
    raise(Oracle::event, fmt::format("{}: expected event {}, seen: {}", what, name(expected), name(kinds)),
          fmt::format("{}, {} expected, seen {}", what, name(expected), name(kinds)));
  }

  static std::string name_of_turn(const Turn& turn) {
    const auto* message = std::get_if<Message>(&turn.action);
    if (message == nullptr) return "an order";
    return std::string{kCmNames.at(static_cast<std::size_t>(message->kind))};
  }

  /// Returns the names of what the device sent.
  static std::string seen(const Turn& turn) {
    std::string names;
    for (const SeenFrame& frame : turn.answers) {
      names += (names.empty() ? "" : ", ") + frame_name(parse_frame(frame.bytes, LinkType::ethernet));
    }
    return names.empty() ? "nothing" : names;
  }

  void raise_answer(const Message& message, const Turn& turn) {
    std::string allowed;
    for (const CmBehaviour& one : turn.cm) {
      allowed += allowed.empty() ? "" : " or ";
      allowed += one.answer ? kCmNames.at(static_cast<std::size_t>(*one.answer)) : "nothing";
    }
    const std::string_view name = kCmNames.at(static_cast<std::size_t>(message.kind));
    const std::string field = message.changes.empty() ? "" : " with another " + message.changes.front().field;
    raise(Oracle::answer, fmt::format("{}{}: allowed is {}; seen {}", name, field, allowed, seen(turn)),
          fmt::format("{}{}, {} expected, seen {}", name, field, allowed, seen(turn)));
  }

  void check_end() override {
    const bool is_sure = model_.phase() != CmPhase::unsure;
    Turn rest;
    collect(rest, ends_.front().talk, bench().timing().quiet);
    if (!rest.answers.empty() && is_sure) {
      return raise(Oracle::answer, "a message too many: " + seen(rest), "too many: " + seen(rest));
    }
    take_reports(rest, 0);
    if (is_sure) check_reports(rest, {});
    if (!has_alarm()) check_state();
  }

  void check_state() {
    const std::optional<QpState> expected = expected_state();
    if (!expected) return;
    const QpState state = target().state(ends_.front().end.number);
    if (state == *expected) return;
    result().connected_state = expected;
    raise(Oracle::state, fmt::format("the QP is in {}, expected {}", to_string(state), to_string(*expected)),
          fmt::format("{} for {}", to_string(state), to_string(*expected)));
  }

  [[nodiscard]] std::optional<QpState> expected_state() const {
    switch (model_.phase()) {
      case CmPhase::listening:
        // Another connection may have got its QP.
        if (model_.has_asked_twice()) return std::nullopt;
        return QpState::init;
      case CmPhase::established:
        return QpState::rts;
      case CmPhase::ended:
      case CmPhase::rejected:
        return QpState::err;
      default:
        return std::nullopt;
    }
  }

  /// Ends all connections, whatever their IDs, so that no timer of the device makes it send anything later.
  [[nodiscard]] TargetResult<void> let_go() override {
    for (const CmTalk& talk : connections_) {
      for (const CmKind kind : {CmKind::drep, CmKind::dreq}) {
        Turn turn{.action = Message{.kind = kind}};
        turn.frame = build_message({.kind = kind}, talk, port());
        if (!send(turn)) continue;
        while (receive(bench().timing().quiet)) {
        }
      }
    }
    while (service_.poll_event()) {
    }
    return target().destroy_qp(second_.number());
  }

  [[nodiscard]] std::optional<std::uint64_t> signature_of(const Turn& turn, unsigned state_before) const override {
    std::uint64_t signature = mix(state_before, turn.taken.value_or(kOpen));
    if (const auto* message = std::get_if<Message>(&turn.action)) {
      if (turn.frame.empty()) return std::nullopt;
      signature = mix(signature, static_cast<std::uint64_t>(message->kind));
      signature = mix(signature, (message->local_flip != 0 ? 1U : 0U) + (message->remote_flip != 0 ? 2U : 0U) +
                                     (message->qpn_flip != 0 ? 4U : 0U) + (message->transaction != 0 ? 8U : 0U) +
                                     (message->wrong_icrc ? 16U : 0U) + (message->is_fresh ? 32U : 0U));
      for (const FieldChange& change : message->changes) signature = mix(signature, hash_of(change.field));
    }
    for (const SeenFrame& frame : turn.answers) {
      signature = mix(signature, hash_of(frame_name(parse_frame(frame.bytes, LinkType::ethernet))));
    }
    return mix(signature, model_.abstract_state());
  }

  static constexpr std::uint64_t kOpen = 0xFF;

  CmService& service_;
  Gate::Reserved second_;
  std::array<ManagedEnd, 2> ends_;
  std::vector<CmTalk> connections_{};  ///< that the device has replied for
  Time ended_{};                       ///< when the first connection was last seen before timewait
  ManagerModel model_{};
  const ManagerSource& source_;
};

}  // namespace

TargetResult<ProgramResult> run_manager(Bench& bench, const Program& program, const ManagerSource& source) {
  const Port& port = bench.target().port();
  CmService* const service = bench.target().cm(port.version);
  if (service == nullptr) return tl::unexpected(std::string{"the device has no communication manager to be asked"});
  CmListener listener;
  std::array<ManagedEnd, 2> ends;
  std::vector<Gate::Reserved> qps;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    QpSetup setup;
    setup.state = QpState::init;
    setup.path_mtu = program.path_mtu;
    setup.rq_psn = program.first_psn;
    setup.sq_psn = program.first_psn + 1;
    setup.access = program.access;
    setup.peer = bench.next_peer();
    TargetResult<Gate::Reserved> qp = bench.gate().make_qp(bench.target(), setup);
    if (!qp) return tl::unexpected(qp.error());
    const std::uint64_t name = mix(bench.target().identity(), setup.peer.value());
    ends.at(i) = {.end = {.number = qp->number(), .qpn = qp->qpn(), .setup = setup},
                  .talk = {.local = CommId{static_cast<std::uint32_t>(name) | 1U},
                           .request_transaction = name,
                           .ca_guid = name | 1U,
                           .local_qpn = setup.peer,
                           .remote_qpn = qp->qpn(),
                           .starting_psn = setup.sq_psn,
                           .path_mtu = setup.path_mtu}};
    listener.ends.push_back(ends.at(i).end);
    qps.push_back(std::move(*qp));
  }
  listener.terms.service = service_of(ends.front().end.setup.peer);
  CmTalk& fresh = ends.back().talk;
  fresh.local = CommId{ends.front().talk.local.value() ^ kFreshId};
  for (ManagedEnd& end : ends) end.talk.service = listener.terms.service;
  if (TargetResult<void> listens = service->listen(listener); !listens) return tl::unexpected(listens.error());
  return ManagerRunner{bench,
                       port,
                       *service,
                       std::move(qps.front()),
                       std::move(qps.back()),
                       std::move(ends.front()),
                       std::move(ends.back()),
                       source}
      .run(program);
}

}  // namespace roce::conform::fuzz
