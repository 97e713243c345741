// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/program_run.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

/// A program while it runs on a new QP, whichever half of the device it is for.
class ProgramRunner {
 public:
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;
  virtual ~ProgramRunner() = default;

  /// Runs actions until there are no more, or one raises an alarm; a device that stops answering raises one. Those that
  /// the gate leaves out are not run. Returns
  /// what became of `program`, whose actions are those that ran. Error: the device refuses a verb.
  [[nodiscard]] TargetResult<ProgramResult> run(const Program& program);

 protected:
  /// A frame of the device; the packet lies in its bytes.
  struct Received {
    SeenFrame frame;
    Packet packet;
  };

  /// `half` begins the places of alarms. `peer` is the tester's QPN. `bench` and `port`, that of the QP, have to
  /// outlive the runner.
  ProgramRunner(Bench& bench, const Port& port, Gate::Reserved qp, Qpn peer, std::string_view half);

  [[nodiscard]] virtual std::optional<Action> next_action() = 0;
  /// Carries out the action of a turn, and judges what the device does. Error: the device refuses a verb.
  [[nodiscard]] virtual TargetResult<void> carry_out(Turn& turn) = 0;
  /// Destroys what the program has made beside its QP, before that. Error: the device refuses.
  [[nodiscard]] virtual TargetResult<void> let_go() { return {}; }
  /// Judges what the device has become, after the last action.
  virtual void check_end() = 0;
  /// True if the QP has to be in ERR.
  [[nodiscard]] virtual bool is_stopped() const = 0;
  /// Judges the events that the device reported about the QP.
  virtual void check_events(const std::vector<transport::EventType>& /*seen*/) {}
  /// Returns the number of the QP's state, among those of both halves.
  [[nodiscard]] virtual unsigned state() const = 0;
  /// Returns what tells the course of this turn from others; empty if nothing can be new about it.
  [[nodiscard]] virtual std::optional<std::uint64_t> signature_of(const Turn& turn, unsigned state_before) const = 0;

  /// Sends the frame of a turn, and returns it as a packet. Empty if it may not leave: the turn then has none.
  [[nodiscard]] std::optional<Packet> send(Turn& turn);
  /// Waits for a frame of the device; empty if none came for so long. One that has what nobody may read raises an
  /// alarm. On a wire those are left out that come late, to the QPN of a program before.
  [[nodiscard]] std::optional<Received> receive(Duration patience) { return receive(patience, peer_); }
  void raise(Oracle oracle, std::string what, std::string_view place);
  [[nodiscard]] bool has_alarm() const { return result_.alarm.has_value(); }
  [[nodiscard]] Bench& bench() const { return bench_; }
  [[nodiscard]] Target& target() const { return bench_.target(); }
  [[nodiscard]] const Port& port() const { return port_; }
  [[nodiscard]] QpNumber qp() const { return qp_.number(); }
  [[nodiscard]] Qpn qpn() const { return qp_.qpn(); }
  [[nodiscard]] ProgramResult& result() { return result_; }
  [[nodiscard]] const ProgramResult& result() const { return result_; }

 private:
  [[nodiscard]] TargetResult<void> run_actions();
  [[nodiscard]] std::optional<Received> receive(Duration patience, Qpn peer);
  /// Finds out whether a QP that the program did not use is served.
  void check_clean_qp();
  void check_counters();
  /// Takes all events that the device has reported; returns those about the QP.
  [[nodiscard]] std::vector<transport::EventType> take_events();

  Bench& bench_;
  const Port& port_;
  Gate::Reserved qp_;
  Qpn peer_;
  std::string_view half_;
  std::uint64_t received_ = 0;  ///< frames of the device
  ProgramResult result_{};
};

}  // namespace roce::conform::fuzz
