// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>

#include "roce/wire/bth.h"
#include "roce/wire/time.h"

namespace roce::transport::detail {

/// Measures the round trip of one packet at a time, and only of those that were sent once (Karn).
class RoundTripSample {
 public:
  /// Notes that a packet that asks for an ACK was sent for the first time.
  void begin(Psn psn, Time now) {
    if (is_measuring_) return;
    is_measuring_ = true;
    psn_ = psn;
    since_ = now;
  }
  /// Notes that everything before `una` is acknowledged. Returns the round trip if that ends the measurement.
  [[nodiscard]] std::optional<Duration> end(Psn una, Time now) {
    if (!is_measuring_ || !una.newer_than(psn_)) return std::nullopt;
    is_measuring_ = false;
    return now - since_;
  }
  /// Forgets the packet: others will be sent again, and nobody can tell which one is answered.
  void forget() { is_measuring_ = false; }

 private:
  bool is_measuring_ = false;
  Psn psn_{};
  Time since_{};
};

/// The round trip and its variation, smoothed as in RFC 6298.
class RoundTrip {
 public:
  void take(Duration sample) {
    if (!is_known()) {
      smoothed_ = std::max(sample, Duration{1});
      variation_ = sample / 2;
      return;
    }
    const Duration error = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
    variation_ += (error - variation_) / 4;
    smoothed_ += (sample - smoothed_) / 8;
  }
  [[nodiscard]] bool is_known() const { return smoothed_.count() != 0; }
  [[nodiscard]] Duration smoothed() const { return smoothed_; }
  [[nodiscard]] Duration variation() const { return variation_; }

 private:
  Duration smoothed_{0};
  Duration variation_{0};
};

}  // namespace roce::transport::detail
