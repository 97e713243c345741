// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model_program.h"
#include "model_reference.h"
#include "roce/transport/device.h"

namespace roce::model {

/// One device of a run with its QPs, and the progress of each in the program.
class Node {
 public:
  Node(const Program& program, std::size_t index, Memory& memory);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Brings the QPs to RTS. To be called for both nodes before anything else.
  void connect(const Node& peer);

  [[nodiscard]] transport::Device& device() { return device_; }
  [[nodiscard]] transport::QpAttributes attributes(std::size_t qp) const;
  [[nodiscard]] std::size_t qp_count() const { return qps_.size(); }
  [[nodiscard]] Qpn qpn(std::size_t qp) const { return qps_[qp].qpn; }
  /// Returns the index of a QPN, or `qp_count()` if there is none.
  [[nodiscard]] std::size_t find(Qpn qpn) const;

  void begin_phase(std::size_t phase, Time now);
  /// Posts all actions that are due. Returns true if any was posted; `failure` receives the reason if a post failed.
  bool post_due(const Node& peer, Time now, std::string& failure);
  /// Returns the time of the next action that is not yet due; `kNever` at the end of the phase.
  [[nodiscard]] Time next_action(Time now) const;
  /// True if all of the phase is posted and every send request is complete.
  [[nodiscard]] bool is_phase_over() const;
  /// Returns what keeps the phase from being over.
  [[nodiscard]] std::string unfinished() const;
  [[nodiscard]] bool is_any_qp_in_error() const;
  void force_error(Time now);

  /// Takes all completions and checks each against the one expected next. Returns an empty text, or what is wrong.
  [[nodiscard]] std::string check_completions(const Reference& reference, const Node& peer);
  /// Checks at the end that no completion was lost. Returns an empty text, or what is wrong.
  [[nodiscard]] std::string check_all_completed(const Reference& reference) const;

  std::uint64_t completions = 0;
  std::uint64_t errors = 0;

 private:
  struct QpState {
    Qpn qpn{};
    std::optional<transport::Srq> srq{};
    std::array<transport::Mr, kAreas> regions{};
    std::array<transport::MrInfo, kAreas> infos{};
    std::array<transport::Mw, 2> windows{};
    std::size_t memory = 0;
    std::size_t next_send = 0;  ///< index of an action of the phase
    std::size_t next_receive = 0;
    std::size_t sends_posted = 0;
    std::size_t receives_posted = 0;
    std::size_t sends_completed = 0;  ///< place in the list of the reference
    std::size_t receives_completed = 0;
    bool failed = false;
  };

  [[nodiscard]] const Side& side(std::size_t qp) const { return program_.qps[qp].phases.at(phase_).at(index_); }
  [[nodiscard]] std::uint64_t address(std::size_t qp, Area area, std::uint32_t offset) const;
  [[nodiscard]] RKey key(std::size_t qp, Key which) const;
  [[nodiscard]] transport::VerbResult<void> post(std::size_t qp, const Work& op, const Node& peer);
  [[nodiscard]] transport::VerbResult<void> post(std::size_t qp, const Receive& receive);
  [[nodiscard]] std::string check_sent(std::size_t qp, const transport::Completion& completion,
                                       const std::vector<Expected>& expected);
  [[nodiscard]] std::string check_received(std::size_t qp, const transport::Completion& completion,
                                           const std::vector<Expected>& expected);

  const Program& program_;
  std::size_t index_;
  transport::Device device_;
  transport::Cq send_cq_{};
  transport::Cq receive_cq_{};
  std::vector<QpState> qps_;
  std::size_t phase_ = 0;
  Time phase_start_{};
};

}  // namespace roce::model
