// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "roce/analysis/tracker.h"
#include "roce/link/capture_record.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// One end of the traffic.
struct HostInfo {
  std::set<MacAddress> macs;  ///< source MAC addresses of its packets on the captured link
  std::set<Qpn> qpns;         ///< numbers of its queue pairs, as far as known
  std::uint64_t sent = 0;     ///< RoCE packets
};

/// Reason why a connection cannot be played again with a live peer.
enum class Obstacle : std::uint8_t {
  one_direction,   ///< only packets of one direction are in the capture, or nothing joined the two directions
  began_before,    ///< the connection began before the capture
  payload_cut,     ///< the snap length cut payload off
  read_data,       ///< READs or atomics whose answers are not in the capture
  packets_missed,  ///< packets that were on the wire and are not in the capture
  not_reliable,    ///< UC or UD: nothing is acknowledged, so the connection can only be sent
};

/// Returns a description for people.
[[nodiscard]] std::string_view to_string(Obstacle obstacle);
/// Returns the name of the enumerator: `one_direction`, …
[[nodiscard]] std::string_view name_of(Obstacle obstacle);

/// A connection, as far as it is known.
struct ConnectionInfo {
  analysis::StreamSummary stream;
  std::uint64_t cut_packets = 0;       ///< packets whose payload the snap length cut
  std::uint64_t unanswered_reads = 0;  ///< READs and atomics that were neither acknowledged nor refused
  std::vector<Obstacle> obstacles;
};

/// Limit on the connections that are listed one by one: a scan of all queue pairs makes millions.
inline constexpr std::size_t kMostConnections = 65'536;

/// Summary of a capture, as far as playing it again is concerned.
struct CaptureInfo {
  std::uint64_t frames = 0;
  std::uint64_t roce_packets = 0;
  std::uint64_t bytes = 0;               ///< length of all frames on the wire
  std::optional<std::int64_t> first_ns;  ///< earliest time of the frames that have one
  std::optional<std::int64_t> last_ns;   ///< latest time of these frames
  std::uint64_t peak_packets = 0;        ///< RoCE packets in the busiest millisecond
  std::uint64_t cut_frames = 0;
  std::uint64_t bad_icrc = 0;
  std::uint64_t super_frames = 0;
  std::uint64_t tunnelled = 0;   ///< RoCE packets in tunnels
  std::uint64_t unreadable = 0;  ///< frames of link types that cannot carry RoCE or are unknown
  std::uint32_t longest_frame = 0;
  std::map<RoceVersion, std::uint64_t> versions;
  std::map<std::uint16_t, std::uint64_t> vlans;  ///< packets by VLAN ID
  std::map<Gid, HostInfo> hosts;
  std::vector<ConnectionInfo> connections;  ///< the first kMostConnections that ended, ordered by stream number
  std::uint64_t unlisted_connections = 0;   ///< connections beyond kMostConnections

  /// Returns the time between the earliest and the latest frame, in seconds; 0 if no frame has a time.
  [[nodiscard]] double seconds() const;
};

/// Gathers a `CaptureInfo`. Pure: frames in, facts out.
class InfoCollector {
 public:
  InfoCollector();

  void take(const link::CaptureRecord& record);
  /// Returns the summary; call once, after the last frame.
  [[nodiscard]] CaptureInfo finish();

 private:
  void take_packet(const Packet& packet, const IcrcVerdict& icrc, const link::CaptureRecord& record,
                   std::uint32_t segment);
  void count_in_time(std::int64_t time_ns);
  void learn_messages();
  /// Adds a stream that has ended.
  void add_connection(analysis::StreamSummary stream);

  CaptureInfo info_;
  analysis::Tracker tracker_;
  std::map<std::uint32_t, ConnectionInfo> known_;  ///< by stream number
  std::vector<analysis::Message> messages_;
  std::vector<analysis::StreamSummary> closed_;
  std::int64_t millisecond_ = 0;
  std::uint64_t packets_in_it_ = 0;
};

}  // namespace roce::replay
