// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "conform/run/frame_maker.h"
#include "conform/target/target.h"

namespace roce::conform {

/// An RC QP of the device that no case uses, for WRITEs of 8 bytes that are right in every way: what they tell is about
/// the device and the wire, and not about a rule.
class CleanQp {
 public:
  /// Makes the QP and its region. Error: the device refuses one. `target` has to outlive it.
  [[nodiscard]] static TargetResult<CleanQp> make(Target& target);

  /// Sends a WRITE that asks for an acknowledgement.
  void send(Psn psn);

  struct Answer {
    Time time{};
    Psn psn{};
    bool is_ack = false;  ///< or a NAK
  };
  /// Waits for the next acknowledgement or NAK; empty if none came before `until`.
  [[nodiscard]] std::optional<Answer> receive(Time until);

  [[nodiscard]] Psn first_psn() const { return first_psn_; }

 private:
  CleanQp(Target& target, const FrameDefaults& defaults) : target_(&target), defaults_(defaults) {}

  Target* target_;
  FrameDefaults defaults_;
  Psn first_psn_{};
};

/// Returns whether the device executes a WRITE on a new QP; it is sent up to five times, each time for up to
/// `patience`. Throws DeviceGone.
[[nodiscard]] bool serves_new_qp(Target& target, Duration patience);

}  // namespace roce::conform
