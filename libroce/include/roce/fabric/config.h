// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/congestion/choice.h"
#include "roce/fabric/error.h"
#include "roce/fabric/topology.h"
#include "roce/transport/profile.h"
#include "roce/transport/traffic_classes.h"
#include "roce/wire/time.h"

// Sizes of frames count the Ethernet header, not the FCS: queues, buffers and weights are in such bytes.
namespace roce::fabric {

/// All hosts are alike. A queue pair of priority p sends with DSCP 8p, and switches put a frame into queue DSCP / 8.
struct HostConfig {
  std::uint32_t path_mtu = 1024;  ///< where a flow does not have its own: 256, 512, 1024, 2048 or 4096
  transport::Profile profile = transport::hardware_like_profile();
  congestion::Choice congestion{};
  bool sends_cnps = true;
  Duration cnp_interval = std::chrono::microseconds{50};
  std::uint8_t cnp_priority = 6;
  transport::TrafficClasses traffic_classes{};  ///< how priorities share the link
  std::uint8_t timeout = 14;                    ///< ACK timeout 4.096 us · 2^timeout; 0: none; 0 … 31
};

/// Marking of congestion when a frame begins to leave, by the bytes behind it in its queue: never up to `kmin`,
/// with a chance that rises to `pmax` at `kmax`, and always beyond.
struct Red {
  std::uint64_t kmin = 5'000;
  std::uint64_t kmax = 200'000;
  double pmax = 0.01;
};

/// Flow control of single priorities (IEEE 802.1Q, clause 36) by what came in at a port and is still in the buffer.
struct Pfc {
  std::uint8_t priorities = 1U << 3U;  ///< bit p: priority p is lossless
  std::uint64_t reserve = 4'000;       ///< bytes of buffer kept for each port and lossless priority
  /// Bytes of shared buffer from which on a port's sender is stopped; empty: `alpha` times the free shared buffer.
  std::optional<std::uint64_t> xoff{};
  double alpha = 0.125;
  std::uint64_t xon_offset = 3'000;  ///< it may go on once there are so many bytes fewer
  /// Bytes kept for what comes after a stop, of each port and lossless priority; empty: as much as can come.
  std::optional<std::uint64_t> headroom{};
};

/// Ends a pause that lasts: frames of a queue that was paused for `detection` without sending one are dropped,
/// and those that come until `restoration` later, and as long as it stays paused.
struct Watchdog {
  Duration detection = std::chrono::milliseconds{200};
  Duration restoration = std::chrono::milliseconds{400};
};

/// All switches are alike.
struct SwitchConfig {
  std::uint64_t buffer = 16'000'000;  ///< bytes that all ports share
  /// A lossy priority drops what came in at a port beyond so many times the free shared buffer.
  double lossy_alpha = 1;
  std::optional<Red> red{};
  std::optional<Pfc> pfc{};
  std::optional<Watchdog> watchdog{};  ///< only with `pfc`
  /// Shares of the queues by bytes (deficit round robin); 0: strict, served first, the highest of those before others.
  std::array<std::uint32_t, 8> weights{1, 1, 1, 1, 1, 1, 0, 0};
};

/// A host that stops a priority of its switch by PFC for as long as the storm lasts, whatever it receives.
struct Storm {
  NodeId host = 0;
  std::uint8_t priority = 3;
  Duration start{0};                   ///< at most 1000 s
  std::optional<Duration> duration{};  ///< above 0, at most 1000 s; empty: to the end of the run
};

struct Config {
  std::uint64_t seed = 1;
  HostConfig hosts{};
  SwitchConfig switches{};
  std::vector<Storm> storms{};
};

/// Returns the largest frame of a host: path MTU `mtu` and all headers.
[[nodiscard]] constexpr std::uint32_t largest_frame(std::uint32_t mtu) {
  return mtu + 96;
}
/// Returns the bytes that may come in from a link after it was decided to stop its sender, if frames have at most
/// `frame` bytes: a frame that has come in part, a frame and a PFC frame that are just leaving here, the PFC frame,
/// both ways, and a frame that is just leaving there.
[[nodiscard]] std::uint64_t needed_headroom(const LinkSpec& link, std::uint32_t frame);

/// Checks values, and that they go together on `topology` with packets of up to `largest_mtu` bytes. The places of
/// errors are the names of members, such as `switches.pfc.xoff`.
[[nodiscard]] Result<void> check(const Config& config, const Topology& topology, std::uint32_t largest_mtu);

}  // namespace roce::fabric
