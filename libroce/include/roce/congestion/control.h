// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "roce/wire/time.h"

// Rates are bits a second of packets counted from the BTH through the ICRC, as rate limits are.
namespace roce::congestion {

/// The way of a QP's packets, as far as a controller has to know it.
struct Path {
  std::uint64_t line_rate_bps = 0;  ///< the highest rate that the wire takes; never 0
  std::uint32_t mtu = 1024;         ///< path MTU, bytes
};

/// The packets of one turn of a QP.
struct Sent {
  Time now{};
  std::uint64_t bytes = 0;  ///< BTH through ICRC; ACKs sent in the same turn count too
};

/// An acknowledgement that made progress.
struct Acknowledged {
  Time now{};
  std::uint32_t packets = 0;    ///< PSNs that it acknowledged for the first time
  std::uint32_t in_flight = 0;  ///< PSNs that are still out
  /// Round trip of a packet that was sent once, at most one sample at a time. It includes the time for which the peer
  /// holds ACKs back.
  std::optional<Duration> rtt{};
};

/// The reason for which a requester goes back.
enum class Loss : std::uint8_t { nak, implied_nak, timeout };

/// The decision of a controller. It holds until the next event, or until `next_change`.
struct Output {
  std::uint64_t rate_bps = 0;      ///< 0: no limit; such a QP keeps its super-frames
  std::uint32_t window_bytes = 0;  ///< payload in flight; 0: no limit. One packet is always allowed
  std::uint32_t burst_bytes = 0;   ///< payload that may go in one turn under a rate; 0: packet by packet
  Time next_change = kNever;       ///< the output may be another one then, without an event
  // Events that the controller wants to hear of; notifications it always hears of.
  bool hears_sent = false;
  bool hears_acknowledged = false;  ///< with samples of the round trip
  bool hears_losses = false;
};

/// The state of a controller, for people: rates in bits a second.
struct Reading {
  bool limited = false;  ///< false: no rate has been set since the start, and the others are those of the line
  double rate_bps = 0;
  double target_bps = 0;         ///< the rate that it recovers to; equal to `rate_bps` without such a thing
  double alpha = 0;              ///< DCQCN's estimate of congestion, 0 … 1; 0 without one
  std::uint64_t time_stage = 0;  ///< increases by time since the last cut; 0 without such a thing
  std::uint64_t byte_stage = 0;  ///< increases by bytes since then
};

/// Decides how fast one QP may send. It has neither a clock nor timers: each call has the time, which does not go
/// backwards, and `Output::next_change` says when the controller would like to be asked again; it may be asked later,
/// or never. After an event `output` is called. No call may allocate memory, nor throw.
class CongestionControl {
 public:
  CongestionControl() = default;
  CongestionControl(const CongestionControl&) = delete;
  CongestionControl& operator=(const CongestionControl&) = delete;
  virtual ~CongestionControl() = default;

  /// Begins, once, when the QP may send.
  virtual void start(const Path& path, Time now) = 0;
  /// Handles a congestion notification packet for this QP.
  virtual void on_cnp(Time now) = 0;
  virtual void on_sent(const Sent& /*sent*/) {}
  virtual void on_acknowledged(const Acknowledged& /*acknowledged*/) {}
  virtual void on_loss(Loss /*loss*/, Time /*now*/) {}
  /// Returns the decision that holds from `now` on.
  [[nodiscard]] virtual Output output(Time now) = 0;
  /// Returns the state at `now`.
  [[nodiscard]] virtual Reading reading(Time now) = 0;
};

}  // namespace roce::congestion
