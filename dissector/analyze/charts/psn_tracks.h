// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/charts/by_stream.h"
#include "roce/analysis/tracker.h"

namespace roce::analyze {

/// The meaning of a point in a PSN graph.
enum class PsnKind : std::uint8_t {
  sent,
  sent_again,
  late,
  copy,
  answered,
  nak,
  rnr_nak,
  read_response,
  lost,        ///< behind the capture point
  lost_unseen  ///< in front of it: the frame is the one that shows it
};
inline constexpr std::size_t kPsnKinds = 10;

[[nodiscard]] std::string_view to_string(PsnKind kind);

/// A packet in a PSN graph.
struct PsnPoint {
  std::int64_t time_ns = 0;
  std::int64_t psn = 0;  ///< from the first PSN of its requester
  std::uint64_t frame = 0;
  std::uint32_t count = 1;  ///< PSNs, for what was lost
  std::uint32_t number =
      0;  ///< of the packet in its stream, from 1; of what was never seen: of the packet that shows it
  std::uint8_t requester = 0;  ///< direction of the requests that it belongs to
  PsnKind kind{};

  friend bool operator==(const PsnPoint&, const PsnPoint&) = default;
};

/// Packets by time and PSN, as tcptrace draws them: the first and the newest ones of each stream, and those around each
/// finding and around the longest times without any.
/// Memory does not depend on the capture.
class PsnTracks {
 public:
  static constexpr std::size_t kStreams = 4'096;     ///< streams that are followed from their first packet
  static constexpr std::size_t kFirst = 2'000;       ///< points that are kept of a stream from its begin
  static constexpr std::size_t kAround = 64;         ///< points before and after a finding, and the newest
  static constexpr std::size_t kOfStream = 8'000;    ///< points of one stream
  static constexpr std::size_t kAllFirst = 200'000;  ///< those from the begin, and those around times without any
  static constexpr std::size_t kAll = 400'000;
  static constexpr std::size_t kLatest = 1U << 15U;   ///< the newest points of all streams
  static constexpr std::uint64_t kLooks = 1U << 26U;  ///< points of these that are looked at for stories, in all

  void add(const analysis::Observation& seen, const analysis::PacketAnalysis& known);
  void add(const analysis::Verdict& verdict);

  /// Returns the points of a stream, by time; empty if there are none.
  [[nodiscard]] std::vector<PsnPoint> points(std::uint32_t stream) const;
  /// Returns the points of one requester, and of what answers it, in a time, by time: those that are kept, and those
  /// that are still there because they are new.
  [[nodiscard]] std::vector<PsnPoint> points_between(std::uint32_t stream, std::uint8_t requester,
                                                     std::int64_t first_ns, std::int64_t last_ns);
  /// Returns the relative PSN that is nearest to the newest one of a requester; nothing if none is known.
  [[nodiscard]] std::optional<std::int64_t> relative_psn(std::uint32_t stream, std::uint8_t requester, Psn psn) const;
  /// Returns the number of packets of a stream, including those without a point.
  [[nodiscard]] std::uint64_t packets(std::uint32_t stream) const;

 private:
  struct Track {
    std::vector<PsnPoint> kept;
    std::vector<PsnPoint> recent;  ///< a ring of the newest that are not kept
    std::size_t oldest = 0;        ///< in `recent`
    std::size_t follows = 0;       ///< points that are still to be kept after a finding
    std::uint64_t packets = 0;
    std::uint32_t newest = 0;                                 ///< number of the newest point
    std::int64_t latest_ns = 0;                               ///< time of the newest
    std::int64_t longest_ns = 0;                              ///< longest time without one
    std::array<std::optional<std::uint32_t>, 2> first_psn{};  ///< of each requester
    std::array<std::int64_t, 2> latest{};                     ///< newest relative PSN of each requester
  };

  /// A new packet of any stream.
  struct Latest {
    std::uint32_t stream = 0;
    PsnPoint point;
  };

  void remember(std::uint32_t stream, const PsnPoint& point);
  static void put_aside(Track& track, const PsnPoint& point);
  void keep_recent(Track& track);
  [[nodiscard]] static bool ends_stall(Track& track, const PsnPoint& point);
  void add(Track& track, const PsnPoint& point);
  void keep(Track& track, const PsnPoint& point);
  void absorb(std::uint32_t from, std::uint32_t into);
  void mark_lost(Track& track, const analysis::Verdict& verdict);
  [[nodiscard]] std::optional<std::int64_t> relative_psn(const Track& track, std::uint8_t requester, Psn psn) const;

  ByStream<Track> tracks_{kStreams};
  std::map<std::uint32_t, std::uint32_t> absorbed_;  ///< streams that others took over, and which
  std::vector<Latest> latest_;                       ///< a ring
  std::size_t oldest_ = 0;                           ///< in it
  std::uint64_t looks_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace roce::analyze
