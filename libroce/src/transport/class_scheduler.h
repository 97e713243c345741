// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/transport/traffic_classes.h"

namespace roce::transport::detail {

/// Says which priority sends next: strict classes first, the highest of them before others; then those that have a
/// share, by bytes (Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995). A class
/// may overdraw what it has by the packets of one turn, and pays that back in the rounds that follow.
class ClassScheduler {
 public:
  /// `classes` must be valid.
  explicit ClassScheduler(const TrafficClasses& classes = {});

  /// Returns the priority that sends next, of those whose bits are set in `ready`, which is not 0.
  [[nodiscard]] std::uint8_t choose(std::uint8_t ready);
  /// True if `charge` has to be told what `priority` sends.
  [[nodiscard]] bool is_charged(std::uint8_t priority) const { return quanta_[class_of_[priority]] != 0; }
  /// Takes bytes that a priority has sent off what its class may send in this round.
  void charge(std::uint8_t priority, std::uint64_t bytes);
  /// Lets the other priorities of the class go before this one.
  void end_turn(std::uint8_t priority) { next_priority_[class_of_[priority]] = (priority + 7) & 7; }

 private:
  /// Returns the priority of a class whose turn it is: the first from `next_priority_` downwards; 7 follows 0.
  [[nodiscard]] std::uint8_t priority_in(std::uint8_t traffic_class, std::uint8_t ready) const;
  /// Returns the class with a share that sends next, of those whose bits are set in `backlogged`, which is not 0.
  [[nodiscard]] std::uint8_t next_with_share(std::uint8_t backlogged);

  std::array<std::uint8_t, 8> class_of_;
  std::array<std::uint8_t, 8> priorities_{};     ///< by class: one bit for each of its priorities
  std::array<std::uint8_t, 8> next_priority_{};  ///< by class
  std::array<std::uint8_t, 8> before_{};         ///< classes that go before those with a share, the first one first
  std::array<std::uint8_t, 8> behind_{};         ///< classes that go behind those with a share
  std::uint8_t before_count_ = 0;
  std::uint8_t behind_count_ = 0;
  std::array<std::int64_t, 8> quanta_{};    ///< by class: bytes in each round; 0: has no share
  std::array<std::int64_t, 8> deficits_{};  ///< by class: bytes that it may still send in this round; below 0: a debt
  std::uint8_t with_share_ = 0;             ///< one bit for each class that has a share
  std::uint8_t turn_ = 0;                   ///< the class with a share whose round it is
};

}  // namespace roce::transport::detail
