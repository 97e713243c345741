// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace roce::conform::fuzz {

/// The retries that a requester has left, as far as its peer can know (RC-REQ-16, RC-REQ-17): at least so many, and at
/// most so many.
class RetryModel {
 public:
  /// `count`: retry_cnt of the QP, 0 … 7. A device may take 7 as endless.
  explicit RetryModel(std::uint8_t count) : count_(count), least_(count), most_(count) {}

  /// The device has sent again what nobody answered in the time of its ACK timer.
  void use_one() {
    least_ = std::max(0, least_ - 1);
    if (count_ != kEndless) most_ = std::max(0, most_ - 1);
  }
  /// The device has sent again for a reason that it need not count.
  void may_use_one() { least_ = std::max(0, least_ - 1); }
  /// A response said something new; if `ends_message`, the device knows that the oldest request is done.
  void refill(bool ends_message) {
    most_ = count_;
    if (ends_message) least_ = count_;
  }

  [[nodiscard]] bool may_send_again() const { return most_ > 0; }
  [[nodiscard]] bool may_give_up() const { return least_ == 0; }
  [[nodiscard]] int most() const { return most_; }

 private:
  static constexpr int kEndless = 7;

  int count_;
  int least_;
  int most_;
};

}  // namespace roce::conform::fuzz
