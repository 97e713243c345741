// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analysis/sim_truth_plan.h"
#include "roce/impair/engine.h"
#include "sim/network.h"

namespace roce::sim_truth {

/// The way between two hosts, with the capture point in it: A, fault rules, capture point, fault rules, B.
class Way {
 public:
  Way(sim::SimNetwork& network, Run& run, const Plan& plan)
      : network_(network),
        run_(run),
        engines_{impair::Engine{impair::RuleSet::from_text(plan.first).value(), run.seed * 2 + 1},
                 impair::Engine{impair::RuleSet::from_text(plan.second).value(), run.seed * 2 + 2}} {
    ends_[0] = network.add_sink([this](Bytes frame, Time) { enter(false, frame); });
    ends_[1] = network.add_sink([this](Bytes frame, Time) { enter(true, frame); });
  }

  [[nodiscard]] sim::NodeId end(std::size_t i) const { return ends_[i]; }
  /// Sets the channels that packets to a QP of a host belong to: one for requests, one for responses.
  void add_qp(bool of_b, Qpn qpn, std::size_t requests, std::size_t responses) {
    channels_[{of_b, qpn.value()}] = {requests, responses};
  }

 private:
  void enter(bool from_b, Bytes frame);
  Sent facts_of(bool from_b, Bytes frame);
  void submit(std::size_t engine, bool from_b, std::size_t item, Bytes frame);
  void pump(std::size_t engine);
  std::size_t pass(std::size_t index, const sim::Frame& frame);
  void leave(std::size_t index, bool from_b, const sim::Frame& frame);

  sim::SimNetwork& network_;
  Run& run_;
  std::array<impair::Engine, 2> engines_;
  std::array<sim::NodeId, 2> ends_{};
  std::array<std::vector<std::size_t>, 2> items_;
  std::array<Time, 2> woken_at_{};
  std::map<std::pair<bool, std::uint32_t>, std::pair<std::size_t, std::size_t>> channels_;
  std::map<std::pair<std::size_t, bool>, std::size_t> newest_;
  std::size_t arrivals_ = 0;
};

}  // namespace roce::sim_truth
