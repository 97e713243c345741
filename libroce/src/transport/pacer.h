// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "roce/congestion/control.h"
#include "roce/wire/bth.h"
#include "roce/wire/time.h"
#include "transport/round_trip.h"

namespace roce::transport::detail {

/// Decides when a QP may send its next packets: by the limits that were asked for (CC-07), and by its congestion
/// control. A limit that was asked for is an average: a host that is late catches up, at no more than twice the rate.
/// The rate of a congestion control is made up for by one burst at most, or a cut would be undone.
class Pacer {
 public:
  /// Sets the limits that were asked for; 0: none.
  void limit(std::uint64_t bits_per_second, std::uint64_t packets_per_second);
  /// Replaces the congestion control, which begins now; nullptr: none.
  void control(std::unique_ptr<congestion::CongestionControl> control, const congestion::Path& path, Time now);

  [[nodiscard]] congestion::CongestionControl* control() const { return control_.get(); }
  /// True if the pacer has neither a limit nor a control, and so is of no use.
  [[nodiscard]] bool is_idle() const { return !has_limits() && control_ == nullptr; }
  [[nodiscard]] Time may_send_at() const {
    return std::max(std::max(average_, peak_), next_ + Duration{fraction_ > 0 ? 1 : 0});
  }
  /// Returns when the control wants to be asked again while something waits.
  [[nodiscard]] Time next_change() const { return backlog_ ? output_.next_change : kNever; }
  /// Returns how many packets may go in one turn, of the usual `quantum`.
  [[nodiscard]] std::uint32_t turn(std::uint32_t quantum) const {
    if (has_limits()) return 1;
    if (output_.rate_bps == 0) return quantum;
    return std::clamp(output_.burst_bytes / mtu_, 1U, quantum);
  }
  /// Returns the PSNs that may be in flight, at most `window`.
  [[nodiscard]] std::uint32_t window(std::uint32_t window) const {
    return output_.window_bytes == 0 ? window : std::clamp(output_.window_bytes / mtu_, 1U, window);
  }

  /// Lets the control catch up, if it wanted to be asked by `now`.
  void catch_up(Time now) {
    if (output_.next_change <= now) output_ = control_->output(now);
  }
  /// Notes that something waits for `may_send_at`.
  void hold_back() { backlog_ = true; }
  /// Charges a turn in which `bytes` bytes were sent; `backlog` if more waits. 0 bytes: nothing was there to send.
  void charge(std::uint64_t bytes, bool backlog, Time now);

  void on_cnp(Time now);
  /// Notes that a packet that asks for an ACK was sent for the first time.
  void on_ack_request(Psn psn, Time now) {
    if (output_.hears_acknowledged) sample_.begin(psn, now);
  }
  /// Notes that everything before `una` is acknowledged, and that `sent_end` is one past the newest PSN.
  void on_progress(Psn una, Psn sent_end, Time now);
  /// Forgets the sample of the round trip: packets will be sent again, and nobody can tell which one is answered.
  void forget_sample() { sample_.forget(); }
  void on_loss(congestion::Loss loss, Time now);

 private:
  [[nodiscard]] bool has_limits() const { return bits_per_second_ != 0 || packet_spacing_ != Duration{0}; }
  void charge_limits(std::uint64_t bytes, Time now);
  void charge_control(std::uint64_t bytes, Time now);

  std::unique_ptr<congestion::CongestionControl> control_;
  congestion::Output output_{};
  std::uint32_t mtu_ = 1;  ///< bytes of payload in a packet, once there is a control

  // The limits that were asked for.
  std::uint64_t bits_per_second_ = 0;
  Duration packet_spacing_{0};
  Time average_ = Time::min();
  Time peak_ = Time::min();

  // The rate of the control.
  Time next_ = Time::min();
  double fraction_ = 0;  ///< of a nanosecond, in addition to `next_`: a rate must not suffer from rounding

  bool backlog_ = false;
  bool has_una_ = false;
  Psn una_{};  ///< as of the last progress
  RoundTripSample sample_{};
};

}  // namespace roce::transport::detail
