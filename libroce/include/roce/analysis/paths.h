// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// Kinds of packets that networks treat in different ways.
enum class PathTraffic : std::uint8_t {
  data,        ///< requests and READ responses
  answers,     ///< ACKs, NAKs and the answers to atomics
  cnp,         ///< congestion notifications
  management,  ///< MADs: what goes to QP1
};
inline constexpr std::size_t kPathTraffics = 4;

/// The marks of packets of one kind, as they were at the capture point.
struct PathMarks {
  std::array<std::uint64_t, 64> dscp{};       ///< packets by DSCP
  std::array<std::uint64_t, 8> priorities{};  ///< packets by PCP of the outermost VLAN tag; the others have no tag
  std::uint64_t ecn_capable = 0;              ///< packets with ECT or CE

  /// Returns the number of packets.
  [[nodiscard]] std::uint64_t packets() const;
  /// Returns the DSCP of most packets; 0 without packets.
  [[nodiscard]] std::uint8_t usual_dscp() const;

  friend bool operator==(const PathMarks&, const PathMarks&) = default;
};

/// The packets of one UDP source port.
struct PathPort {
  std::uint16_t port = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< of the frames

  friend bool operator==(const PathPort&, const PathPort&) = default;
};

/// All packets from one host to another.
struct PathSummary {
  std::uint16_t point = 0;  ///< `Observation::point`
  RoceVersion version{};
  Gid source{};
  Gid destination{};
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;      ///< of the frames
  std::size_t queue_pairs = 0;  ///< QPs that data went to
  std::vector<PathPort> ports;  ///< UDP source ports of data, that with the most bytes first; RoCE v1 has none
  std::array<PathMarks, kPathTraffics> marks{};

  [[nodiscard]] const PathMarks& of(PathTraffic traffic) const { return marks[static_cast<std::size_t>(traffic)]; }
};

/// Counts from where to where packets go, and by what networks tell them apart: the UDP source port, by which they are
/// spread over links of equal cost, and the marks that choose a queue. Bounded, deterministic, without I/O and clock.
class PathSurvey {
 public:
  /// Counts at most `most_flows` combinations of hosts, UDP source port and QP.
  explicit PathSurvey(std::size_t most_flows = std::size_t{1} << 20U) : most_flows_(most_flows) {}
  PathSurvey(const PathSurvey&) = delete;
  PathSurvey& operator=(const PathSurvey&) = delete;
  PathSurvey(PathSurvey&&) = default;
  PathSurvey& operator=(PathSurvey&&) = default;
  ~PathSurvey() = default;

  /// Counts a RoCE packet; packets with a wrong ICRC are left out, since their headers may be damaged.
  void observe(const Observation& packet);

  /// Returns the paths so far, by capture point and addresses.
  [[nodiscard]] std::vector<PathSummary> summaries() const;
  /// Returns the number of packets for whose flow there was no room.
  [[nodiscard]] std::uint64_t uncounted_packets() const { return uncounted_; }

 private:
  using Hosts = std::tuple<std::uint16_t, RoceVersion, Gid, Gid>;
  using Flow = std::tuple<std::uint16_t, Qpn>;
  struct Count {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    bool has_data = false;
  };
  struct Path {
    std::map<Flow, Count> flows;
    std::array<PathMarks, kPathTraffics> marks{};
  };
  /// Where a flow was found.
  struct Found {
    Hosts hosts;
    Flow flow;
    Path* path = nullptr;  ///< null: no flow yet
    Count* count = nullptr;
  };
  static constexpr std::size_t kRecent = 64;

  [[nodiscard]] const Found* find(const Observation& packet);

  std::map<Hosts, Path> paths_;
  std::array<Found, kRecent> recent_{};  ///< by the low bits of the QPN
  std::size_t most_flows_;
  std::size_t flows_ = 0;
  std::uint64_t uncounted_ = 0;
};

/// Returns the share of the fullest of `links` links, 1/links … 1, that is to be expected when each flow goes over a
/// link chosen at random, as a good hash does: the mean of 1,000 trials, which are the same each time. `weights` are
/// the bytes of the flows; 0 if they sum up to 0.
[[nodiscard]] double expected_fullest_share(std::span<const std::uint64_t> weights, unsigned links);

}  // namespace roce::analysis
