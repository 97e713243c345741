// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "conform/run/clean_qp.h"

namespace roce::conform {

namespace {

constexpr Duration kMostTime = std::chrono::milliseconds{1500};
// A probe is lost if its answer takes longer; at first nothing is known of the device.
constexpr Duration kFirstPatience = std::chrono::milliseconds{100};
constexpr Duration kLeastPatience = std::chrono::milliseconds{10};
constexpr std::uint32_t kLostAtFirst = 10;
constexpr std::uint32_t kProbesOfPair = 10;  // one pair for so many probes

/// The probes of one wire, and what came back.
class Prober {
 public:
  Prober(Target& target, CleanQp qp) : target_(target), qp_(qp), psn_(qp.first_psn()) {}

  /// Sends WRITEs one after the other. False if none of the first ten was answered.
  bool probe(std::uint32_t probes, Time end) {
    while (noise_.probes < probes && target_.now() < end) {
      ++noise_.probes;
      send(psn_);
      if (await(psn_)) {
        psn_ = psn_ + 1;
      } else if (++noise_.lost == kLostAtFirst && times_.empty()) {
        return false;
      }
    }
    return true;
  }

  /// Sends WRITEs in pairs.
  void probe_pairs(std::uint32_t pairs, Time end) {
    while (noise_.pairs < pairs && target_.now() < end) {
      ++noise_.pairs;
      send(psn_);
      send(psn_ + 1);
      if (await(psn_ + 1)) {
        psn_ = psn_ + 2;
        continue;
      }
      // One was lost or overtaken. The device goes on at the first that it has not executed.
      if (refused_ == psn_ && answers_.contains(psn_.value())) ++noise_.reordered;
      while (target_.now() < end && !answers_.contains((psn_ + 1).value())) {
        const Psn open = answers_.contains(psn_.value()) ? psn_ + 1 : psn_;
        send(open);
        (void)await(open);
      }
      psn_ = psn_ + 2;
    }
  }

  [[nodiscard]] Noise result() {
    // Answers that were too late are not lost.
    while (await(psn_)) {
    }
    if (times_.empty()) return noise_;
    std::ranges::sort(times_);
    noise_.median = times_[times_.size() / 2];
    noise_.slowest = times_[times_.size() * 999 / 1000];
    return noise_;
  }

 private:
  struct Sent {
    Time time{};
    std::uint32_t count = 0;
  };

  void send(Psn psn) {
    Sent& sent = sent_[psn.value()];
    sent.time = target_.now();
    ++sent.count;
    qp_.send(psn);
  }

  [[nodiscard]] Duration patience() const {
    if (times_.empty()) return kFirstPatience;
    return std::clamp(20 * times_.back(), kLeastPatience, kFirstPatience);
  }

  /// Waits for the acknowledgement of a PSN, and takes what else comes; false if it did not come in time.
  bool await(Psn psn) {
    const Time until = target_.now() + patience();
    while (const std::optional<CleanQp::Answer> answer = qp_.receive(until)) {
      take(*answer);
      if (answer->is_ack && answer->psn == psn) return true;
    }
    return false;
  }

  void take(const CleanQp::Answer& answer) {
    if (!answer.is_ack) {
      refused_ = answer.psn;
      return;
    }
    const Sent& sent = sent_[answer.psn.value()];
    const std::uint32_t count = ++answers_[answer.psn.value()];
    if (count == 1 && newest_.newer_than(answer.psn)) ++noise_.reordered;
    if (answer.psn.newer_than(newest_)) newest_ = answer.psn;
    if (count == 1 && sent.count == 1) times_.push_back(answer.time - sent.time);
    if (count > sent.count) {
      ++noise_.duplicated;
    } else if (count > 1) {
      // It was late, and came after it had been asked for again.
      noise_.lost -= std::min(noise_.lost, 1U);
    }
  }

  Target& target_;
  CleanQp qp_;
  Psn psn_;
  Psn newest_{};
  std::optional<Psn> refused_{};
  Noise noise_{};
  std::map<std::uint32_t, Sent> sent_;              ///< by PSN
  std::map<std::uint32_t, std::uint32_t> answers_;  ///< acknowledgements by PSN
  std::vector<Duration> times_;
};

double milliseconds(Duration time) {
  return static_cast<double>(time.count()) / 1e6;
}

}  // namespace

double Noise::loss() const {
  return probes == 0 ? 0.0 : lost / (2.0 * probes);
}

std::string to_string(const Noise& noise) {
  return fmt::format("{} probes: round trip {:.3f} ms (99.9 %: {:.3f} ms), {} lost, {} duplicated, {} of {} reordered",
                     noise.probes, milliseconds(noise.median), milliseconds(noise.slowest), noise.lost,
                     noise.duplicated, noise.reordered, noise.pairs);
}

TargetResult<Noise> measure_noise(Target& target, std::uint32_t probes) {
  TargetResult<CleanQp> qp = CleanQp::make(target);
  if (!qp) return tl::unexpected(qp.error());
  const Time end = target.now() + kMostTime;
  Prober prober{target, *qp};
  if (!prober.probe(probes, end)) {
    return tl::unexpected(fmt::format("the device answered none of {} WRITEs to a new QP", kLostAtFirst));
  }
  prober.probe_pairs(probes / kProbesOfPair, end);
  return prober.result();
}

void widen(Timing& timing, const Noise& noise) {
  timing.early += noise.jitter();
  timing.late += noise.jitter();
  timing.quiet = std::max(timing.quiet, 5 * noise.slowest);
}

}  // namespace roce::conform
