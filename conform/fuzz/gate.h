// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "conform/target/target.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

/// The only way by which frames of programs leave, those of several threads too.
class Gate {
 public:
  /// A QP of one conversation: as long as this lives, no frame of another one reaches it.
  class Reserved {
   public:
    Reserved(Reserved&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), number_(other.number_), qpn_(other.qpn_) {}
    Reserved& operator=(Reserved&&) = delete;
    ~Reserved();
    [[nodiscard]] QpNumber number() const { return number_; }
    [[nodiscard]] Qpn qpn() const { return qpn_; }

   private:
    friend class Gate;
    Reserved(Gate& gate, QpNumber number, Qpn qpn) : gate_(&gate), number_(number), qpn_(qpn) {}

    Gate* gate_;
    QpNumber number_;
    Qpn qpn_;
  };

  /// Frames leave at most so often; 0: as fast as they come.
  explicit Gate(std::uint64_t frames_a_second = 0) : frames_a_second_(frames_a_second) {}

  /// Makes a QP for one conversation. The gate has to outlive it. Error: the device refuses.
  [[nodiscard]] TargetResult<Reserved> make_qp(Target& target, const QpSetup& setup);
  /// Sends a frame of the conversation with `own` when it is its time; `packet` is what is in it. False if it would
  /// reach somebody else than the device, or a QP of another conversation: it is not sent.
  [[nodiscard]] bool send(Target& target, std::span<const std::byte> frame, const Packet& packet, Qpn own);

  /// Lets programs leave out actions of a shape (action_shape.h) from now on.
  void leave_out(std::uint64_t shape);
  [[nodiscard]] bool is_left_out(std::uint64_t shape);
  /// Returns the shapes that are left out.
  [[nodiscard]] std::vector<std::uint64_t> left_out();

 private:
  using Clock = std::chrono::steady_clock;

  /// Takes the next moment at which a frame may leave, and returns it.
  [[nodiscard]] Clock::time_point take_moment();
  [[nodiscard]] bool is_reserved(Qpn qpn);
  void release(Qpn qpn);

  std::uint64_t frames_a_second_;
  // Held alone by a frame to the number of no known QP, which may be that of one that is being made.
  std::shared_mutex making_;
  std::mutex mutex_;
  Clock::time_point next_{};
  std::unordered_multiset<std::uint32_t> reserved_;  ///< QPNs; devices in memory have the same ones
  std::unordered_set<std::uint64_t> left_out_;       ///< shapes of actions
};

}  // namespace roce::conform::fuzz
