// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>

namespace roce::conform {

/// How a number that only grows has grown lately. Times are seconds and do not go back.
class Growth {
 public:
  /// `number` is what it is at `seconds`.
  explicit Growth(double seconds = 0, std::uint64_t number = 0) : grown_(seconds), samples_{{seconds, number}} {}

  void add(double seconds, std::uint64_t number) {
    if (number != samples_.back().number) grown_ = seconds;
    if (seconds - samples_.back().seconds < kBetween && samples_.size() > 1) {
      samples_.back().number = number;
    } else {
      samples_.push_back({seconds, number});
    }
    while (samples_.size() > 2 && samples_[1].seconds <= seconds - kMinute) samples_.pop_front();
  }

  /// Returns by how much it grew in the last minute.
  [[nodiscard]] std::uint64_t in_last_minute() const { return samples_.back().number - samples_.front().number; }
  /// Returns when it grew for the last time.
  [[nodiscard]] double last() const { return grown_; }

 private:
  static constexpr double kMinute = 60;
  static constexpr double kBetween = 1;
  struct Sample {
    double seconds;
    std::uint64_t number;
  };

  double grown_;
  std::deque<Sample> samples_;
};

}  // namespace roce::conform
