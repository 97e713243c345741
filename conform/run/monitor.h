// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conform/target/target.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/packet.h"

namespace roce::conform {

/// Judges each frame of the device, in each case, without knowing what it is for: the form that a frame has in any
/// state (IBTA vol. 1, 9.2; annex A17; rules NET and W-ICRC of docs/rules.md), and the rules by which the analyser
/// judges captures. It has nothing in common with the endpoint, so that a mistake of that is not in both.
class Monitor {
 public:
  /// Takes a frame of the tester, which may break any rule.
  void take_sent(const Packet& packet, Time now);
  /// Judges a frame of the device for a QP of the tester with the addresses of `port`. Returns the deviation as a
  /// sentence; empty if there is none.
  [[nodiscard]] std::optional<std::string> judge(const Packet& packet, const Port& port, Time now);

  /// Forgets all connections: PSNs and MSNs begin again.
  void forget() { tracker_ = analysis::Tracker{}; }

 private:
  analysis::Tracker tracker_{};
  std::uint64_t frames_ = 0;
};

}  // namespace roce::conform
