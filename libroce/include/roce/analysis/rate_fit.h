// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/time.h"

namespace roce::analysis {

/// A rate at which a sender sent for a while.
struct RateStep {
  Time begin;                  ///< of its first packet
  double bits_per_second = 0;  ///< of the frames; 0: it sent nothing until the next step

  friend bool operator==(const RateStep&, const RateStep&) = default;
};

/// How a sender became slower after a CNP. Under DCQCN a CNP leaves 1 − α/2 of the rate.
struct RateCut {
  Time cnp;
  Duration late{};  ///< from the CNP to the first packet of the lower rate, as the capture point saw both
  double left = 0;  ///< of the rate before, above 0 … 1

  friend bool operator==(const RateCut&, const RateCut&) = default;
};

/// How a sender became faster without a CNP in between.
struct RateRise {
  Duration since{};            ///< the change of the rate before
  double bits_per_second = 0;  ///< by so much

  friend bool operator==(const RateRise&, const RateRise&) = default;
};

/// Fits the rate of one sender that is limited by congestion control as steps, from the times of its packets, and tells
/// what each CNP did to it. It sees the more, the better the packets are paced: a step has to have 16 packets, and a
/// change has to be of 6 %, or of four times what the rate varies by anyway. Bounded, deterministic, without I/O and
/// clock.
class RateFit {
 public:
  /// Packets of each of two neighbouring windows, whose rates are compared.
  static constexpr std::size_t kWindow = 8;
  static constexpr std::size_t kMostSteps = 128;  ///< kept, from the first CNP on
  static constexpr std::size_t kMostCuts = 64;    ///< kept, the first ones, and as many rises

  /// Adds a data packet of the sender: a frame of so many bytes. One that is earlier than the last does not count.
  void add(Time time, std::uint32_t length);
  /// Adds a CNP to the sender.
  void on_cnp(Time time);
  /// Goes on with what was first taken for another sender: from the one with more packets, which gets the latest CNPs
  /// of the other, four at most.
  void absorb(RateFit other);

  /// Returns the steps: the one in force at the first CNP, and those after it, without the last, which has not ended.
  [[nodiscard]] const std::vector<RateStep>& steps() const { return steps_; }
  /// Returns the step that has not ended; nothing if it has too few packets, or there was no CNP.
  [[nodiscard]] std::optional<RateStep> last_step() const;
  [[nodiscard]] const std::vector<RateCut>& cuts() const { return cuts_; }
  [[nodiscard]] const std::vector<RateRise>& rises() const { return rises_; }
  [[nodiscard]] std::uint64_t cnps() const { return cnps_; }
  /// Returns the number of CNPs after which the sender did not become slower within 1 ms, or before the next CNP,
  /// though it sent `4 * kWindow` packets or more.
  [[nodiscard]] std::uint64_t cnps_without_cut() const { return without_cut_; }

 private:
  struct Sent {
    Time time;
    std::uint64_t bytes = 0;  ///< before it
  };
  struct Cnp {
    Time time;
    std::uint64_t packets = 0;  ///< before it
    bool has_cut = false;
    bool is_judged = false;
  };
  /// A change that may become clearer.
  struct Change {
    Sent at;
    double before = 0;  ///< ns a byte
    double after = 0;
    std::size_t patience = 0;  ///< packets until it is taken as it is

    [[nodiscard]] bool is_slower() const { return after > before; }
    [[nodiscard]] double mean() const { return (before + after) / 2; }
    /// Returns the difference, as a part of the mean.
    [[nodiscard]] double size() const;
  };

  [[nodiscard]] const Sent& recent(std::size_t back) const { return sent_[(packets_ - 1 - back) % sent_.size()]; }
  void begin_step(const Sent& at);
  void end_step(const Sent& at);
  /// Returns the square of how much the time to the packet `back` before the last differs from what is usual, as a
  /// part.
  [[nodiscard]] double deviation(std::size_t back, double mean) const;
  void look_for_change();
  void take(const Change& change);
  void take_cut(const Change& change);
  void judge_last_cnp();

  std::array<Sent, 2 * kWindow + 1> sent_{};
  std::uint64_t packets_ = 0;  ///< since the sender was idle
  std::uint64_t all_packets_ = 0;
  std::uint64_t bytes_ = 0;  ///< of all packets but the last
  std::uint32_t last_length_ = 0;
  Sent begin_{};                     ///< of the step
  Time changed_{};                   ///< the last change of the rate, or the end of idleness
  std::optional<double> variation_;  ///< mean square of `deviation` where nothing changes
  std::optional<Change> change_;
  std::optional<Change> last_slower_;     ///< the last one of those that were taken
  std::optional<RateStep> unasked_step_;  ///< the last one that ended without any CNP
  std::array<Cnp, 4> latest_cnps_{};
  std::uint64_t cnps_ = 0;
  std::uint64_t without_cut_ = 0;
  std::vector<RateStep> steps_;
  std::vector<RateCut> cuts_;
  std::vector<RateRise> rises_;
};

}  // namespace roce::analysis
