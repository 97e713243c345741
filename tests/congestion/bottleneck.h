// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "roce/congestion/choice.h"
#include "roce/transport/device.h"
#include "sim/frame_tools.h"
#include "sim/random.h"

namespace roce::sim {

/// Senders, each with a device and a wire of its own, into one port of a switch that marks as RED does, and one
/// receiver behind it. A sender is asked for a packet when its wire is free, as a card is. Times are fractions of a
/// nanosecond, so that a rate is exact; devices see whole ones.
class Bottleneck {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t senders = 2;
    double line_bps = 40e9;
    congestion::Choice control{congestion::DcqcnParameters{}};
    std::function<std::unique_ptr<congestion::CongestionControl>()> make{};  ///< used instead of `control`
    Duration cnp_interval = std::chrono::microseconds{50};
    double kmin = 5e3;  ///< bytes of frames without FCS, behind the one that leaves
    double kmax = 200e3;
    double pmax = 0.01;
    double cnp_loss = 0;                     ///< chance of a CNP to be lost
    Duration last_joins{0};                  ///< when the last sender begins
    Duration last_leaves = Duration::max();  ///< when it ends
  };
  /// The figures of one part of a run, of the senders that are active at its end.
  struct Figures {
    double utilisation = 0;
    double jain = 0;
    double queue_mean = 0;  ///< bytes, the frame being sent included
    double marked = 0;      ///< share of packets
    double cnps = 0;        ///< a second and flow
    double alpha = 0;
  };

  explicit Bottleneck(const Options& options);

  void run_until(Time until);
  /// Runs until `until`, and returns what happened meanwhile, with samples every 50 us.
  [[nodiscard]] Figures measure_until(Time until);
  [[nodiscard]] congestion::Reading reading(std::size_t sender) const;
  [[nodiscard]] transport::Counters counters(std::size_t sender) const;

 private:
  struct Sender {
    std::unique_ptr<transport::Device> device;
    std::vector<std::byte> memory;
    transport::Cq cq{};
    Qpn qpn{};
    Qpn peer{};
    transport::Sge sge{};
    double wire_free = 0;
    double begins = 0;  ///< ns; it sends until before `ends`
    double ends = 0;
    bool has_output = true;
  };
  struct Moving {
    double at = 0;
    std::size_t sender = 0;
    Frame frame;
  };

  void make_sender(std::size_t index);
  void serve(Sender& sender, std::size_t index, double now);
  void begin(double now);
  void leave(double now);
  void receive(double now);
  void take_back(double now);
  [[nodiscard]] bool is_marked(std::size_t waiting);
  /// True once in `1 / chance` times on average.
  [[nodiscard]] bool happens(double chance);
  [[nodiscard]] double transmission(std::size_t bytes) const;
  [[nodiscard]] double next_of(const Sender& sender) const;

  Options options_;
  Random random_;
  std::vector<Sender> senders_;
  std::unique_ptr<transport::Device> receiver_;
  std::vector<std::byte> memory_;
  transport::Pd pd_{};
  transport::Cq cq_{};
  transport::MrInfo region_{};
  double now_ = 0;
  std::deque<Moving> coming_;  // to the switch
  std::deque<Moving> queue_;   // at the port; the first one is being sent
  std::size_t queue_bytes_ = 0;
  double port_free_ = 0;
  std::deque<Moving> arriving_;  // at the receiver
  std::deque<Moving> back_;      // to the senders
  std::uint64_t packets_ = 0;
  std::uint64_t marks_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace roce::sim
