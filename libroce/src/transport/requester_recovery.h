// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "roce/congestion/control.h"
#include "roce/transport/loss_recovery.h"
#include "roce/wire/bth.h"
#include "roce/wire/time.h"
#include "transport/requester_gap.h"
#include "transport/round_trip.h"

namespace roce::transport::detail {

struct DeviceState;
struct Qp;

/// The memory of an RC requester that recovers sooner from losses than the specification asks for (LossRecovery).
struct RequesterRecovery {
  /// The peer's way with packets behind a gap, as far as it has shown it.
  enum class Peer : std::uint8_t { unknown, holds, drops };

  explicit RequesterRecovery(const LossRecovery& settings) : of_profile(settings) {}

  LossRecovery of_profile;
  RoundTripSample sample{};
  RoundTrip round_trip{};

  // The ACK timer.
  bool is_asked = false;        ///< a packet that asks for an ACK has no answer yet
  Psn asked{};                  ///< the newest of them
  std::uint32_t doublings = 0;  ///< of the timer, since a round trip was measured
  Time counted_at{};            ///< the last progress or timeout that cost a retry

  // The probe.
  Time probe_at = kNever;
  std::uint32_t probes = 0;  ///< since the last progress that was not within a response

  // One packet that is sent again alone.
  std::optional<Psn> again{};
  Time again_at = kNever;  ///< the oldest packet was last sent again then; kNever: it has yet to be
  Peer peer = Peer::unknown;
  std::optional<Psn> tried{};          ///< the packet whose answer shows what the peer does
  std::optional<Psn> again_end{};      ///< one past the newest PSN when a packet last went again alone
  Psn alone_end{};                     ///< one past the PSNs of the packet that last went alone
  Psn naked{};                         ///< the PSN of the last NAK
  std::uint32_t distance = 1U << 20U;  ///< from one loss to the next, PSNs, smoothed
  std::uint32_t flight = 0;            ///< PSNs under way when the first of a row of such packets was NAKed

  std::unique_ptr<ResponseGap> gap{};  ///< null if responses behind a gap are dropped

  Psn una{};                         ///< as of the last progress
  std::uint32_t restart_window = 0;  ///< PSNs; 0: the whole window

  /// Forgets all that waits.
  void stop() {
    sample.forget();
    is_asked = false;
    again.reset();
    probe_at = kNever;
    if (gap != nullptr) gap->forget();
  }
};

/// Makes the memory of a QP's losses, if its device has any use for it.
void make_requester_recovery(const DeviceState& device, Qp& qp);
/// Returns the PSNs that may be in flight, of the `window` that the device allows, at a path MTU.
[[nodiscard]] std::uint32_t limit_window(const RequesterRecovery& recovery, std::uint32_t mtu, std::uint32_t window);
/// Returns how long the requester waits for an answer; 0: for ever.
[[nodiscard]] Duration ack_timeout(const Qp& qp);

// These are for QPs that have a RequesterRecovery.

/// Notes that a packet was sent, and sets its timers; `asks` if it asks for an ACK, `again` if it was sent before.
void note_sent(Qp& qp, Psn psn, bool asks, bool again, Time now);
/// Notes that `una` moved.
void note_progress(Qp& qp, Time now);
/// Sets the time of the next probe, if there is to be one.
void set_probe(Qp& qp, Time now);
/// Sends the last packet again if its answer is late, or the request whose answer is missing.
void on_probe_timer(DeviceState& device, Qp& qp, Time now);

// These are for all.

/// Notes that the requester goes back to `una`.
void note_going_back(const DeviceState& device, Qp& qp, congestion::Loss loss);
/// True if sending again for this reason costs a retry; it counts as one then.
[[nodiscard]] bool costs_retry(Qp& qp, congestion::Loss loss, Time now);
/// True if a NAK of a gap that was NAKed before says that what was sent again is lost, too.
[[nodiscard]] bool is_lost_again(const Qp& qp, Time now);
/// Notes the PSN that a NAK names.
void note_nak(Qp& qp, Psn psn);
/// True if a NAK of `psn` is met by that packet alone, which is then the next to be sent.
[[nodiscard]] bool sends_alone(Qp& qp, Psn psn);

}  // namespace roce::transport::detail
