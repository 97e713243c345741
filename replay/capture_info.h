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
  std::set<MacAddress> macs;  ///< that sent for it, on the captured link
  std::set<Qpn> qpns;         ///< of its queue pairs, as far as known
  std::uint64_t sent = 0;     ///< RoCE packets
};

/// Why a connection cannot be held again with a live peer.
enum class Obstacle : std::uint8_t {
  one_direction,   ///< packets of one direction only are in the capture, or nothing joined the two
  began_before,    ///< it had begun before the capture
  payload_cut,     ///< the snap length cut payload off
  read_data,       ///< READs or atomics whose answers are not in the capture
  packets_missed,  ///< packets that were on the wire and are not in the capture
  not_reliable,    ///< UC or UD: nothing is acknowledged, so it can only be sent
};

/// A sentence for people.
[[nodiscard]] std::string_view to_string(Obstacle obstacle);
/// `one_direction`, …
[[nodiscard]] std::string_view name_of(Obstacle obstacle);

/// A connection, or what is known of one.
struct ConnectionInfo {
  analysis::StreamSummary stream;
  std::uint64_t cut_packets = 0;       ///< whose payload was cut by the snap length
  std::uint64_t unanswered_reads = 0;  ///< READs and atomics
  std::vector<Obstacle> obstacles;
};

/// Connections that are told of one by one: a scan of all queue pairs makes millions.
inline constexpr std::size_t kMostConnections = 65'536;

/// What is in a capture as far as playing it again goes.
struct CaptureInfo {
  std::uint64_t frames = 0;
  std::uint64_t roce_packets = 0;
  std::uint64_t bytes = 0;               ///< of the frames on the wire
  std::optional<std::int64_t> first_ns;  ///< of frames with a time
  std::optional<std::int64_t> last_ns;
  std::uint64_t peak_packets = 0;  ///< RoCE packets in the busiest millisecond
  std::uint64_t cut_frames = 0;
  std::uint64_t bad_icrc = 0;
  std::uint64_t super_frames = 0;
  std::uint64_t tunnelled = 0;   ///< RoCE packets in tunnels
  std::uint64_t unreadable = 0;  ///< frames of link types that cannot carry RoCE, or that nobody knows
  std::uint32_t longest_frame = 0;
  std::map<RoceVersion, std::uint64_t> versions;
  std::map<std::uint16_t, std::uint64_t> vlans;  ///< packets by VLAN ID
  std::map<Gid, HostInfo> hosts;
  std::vector<ConnectionInfo> connections;  ///< the first kMostConnections that ended, by stream
  std::uint64_t unlisted_connections = 0;   ///< the others

  /// Between the first frame and the last.
  [[nodiscard]] double seconds() const;
};

/// Gathers it. Pure: frames in, facts out.
class InfoCollector {
 public:
  InfoCollector();

  void take(const link::CaptureRecord& record);
  /// After the last frame; only once.
  [[nodiscard]] CaptureInfo finish();

 private:
  void take_packet(const Packet& packet, const IcrcVerdict& icrc, const link::CaptureRecord& record,
                   std::uint32_t segment);
  void count_in_time(std::int64_t time_ns);
  void learn_messages();
  /// A stream has ended.
  void add_connection(analysis::StreamSummary stream);

  CaptureInfo info_;
  analysis::Tracker tracker_;
  std::map<std::uint32_t, ConnectionInfo> known_;  ///< by stream
  std::vector<analysis::Message> messages_;
  std::vector<analysis::StreamSummary> closed_;
  std::int64_t millisecond_ = 0;
  std::uint64_t packets_in_it_ = 0;
};

}  // namespace roce::replay
