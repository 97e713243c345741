// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/counters/host_facts.h"
#include "analyze/counters/request_channel.h"
#include "analyze/filter/filter.h"
#include "analyze/run/analysis_run.h"
#include "roce/analysis/lazy.h"

namespace roce::analyze {

/// How well a number follows from a capture.
enum class Certainty : std::uint8_t {
  exact,       ///< packets missing from the capture cannot change it
  inferred,    ///< from the behaviour of others, or packets may have been lost where the capture does not see it
  unknowable,  ///< it is not visible on the wire
};

[[nodiscard]] std::string_view to_string(Certainty certainty);

/// How often something happened: at least `least` and at most `most` times, as far as was seen. If it is inferred,
/// events that left no trace come on top.
struct Figure {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  Certainty certainty = Certainty::inferred;

  [[nodiscard]] bool holds(std::uint64_t value) const { return least <= value && value <= most; }
};

/// The counts of one address.
struct HostCounts {
  Gid address{};
  FactCounts facts{};
  bool is_capture_point = false;  ///< the capture was taken at this host
  bool is_whole = true;           ///< nothing indicates that packets of the host are missing
  bool has_unchecked = false;     ///< the ICRC of some packets to the host could not be checked

  [[nodiscard]] Figure figure(HostFact fact) const;
};

/// Counts the actions of each host; hosts are in the order in which they were first seen. Multicast groups are not
/// hosts: the receivers of their packets are not known.
class HostCounters final : public AnalysisConsumer {
 public:
  /// `capture_points`: addresses of the host at which the capture was taken; empty: it may have been taken anywhere.
  explicit HostCounters(std::vector<AddressPattern> capture_points) : capture_points_(std::move(capture_points)) {}

  void on_packet(const AnalysedPacket& packet) override;
  void on_verdict(const analysis::Verdict& verdict) override;
  void on_message(const analysis::Message& message) override;

  /// Ends the counting; open questions remain open. `result` tells which packets the capture lacks.
  [[nodiscard]] std::vector<HostCounts> finish(const AnalysisResult& result);

 private:
  static constexpr std::uint32_t kNobody = 0xFFFF'FFFF;
  /// The number of packets remembered; a verdict on an older packet only makes all counts less certain.
  static constexpr std::size_t kMaxRemembered = 262'144;

  /// The counts that a packet was added to, so that they can be taken back.
  struct Seen {
    analysis::PacketId id{};
    std::uint32_t from = kNobody;
    std::uint32_t to = kNobody;
    std::uint32_t bytes = 0;
    HostFact received_as = HostFact::count;  ///< counted in addition to the packet itself; `count`: nothing
    bool is_response = false;
    bool has_ce = false;
  };

  /// One direction of a stream.
  struct Way {
    std::uint32_t from = kNobody;
    std::uint32_t to = kNobody;
    std::int64_t packets = 0;  ///< counted as received
    std::int64_t bytes = 0;
    std::int64_t packets_since_put_off = 0;     ///< packets since the latest RNR NAK
    std::int64_t bytes_since_put_off = 0;       ///< bytes of these packets
    analysis::Lazy<RequestChannel> requests{};  ///< requests in this direction
  };
  struct Stream {
    std::array<Way, 2> ways{};
    std::uint32_t path_mtu = 0;  ///< bytes; 0: not known yet
    bool is_reliable = false;
    bool is_refused = false;  ///< an error NAK has ended the connection
  };

  [[nodiscard]] std::uint32_t host(const Gid& address);
  [[nodiscard]] FactCounts& facts(std::uint32_t host) { return host == kNobody ? nobody_ : hosts_[host].facts; }
  [[nodiscard]] bool is_here(std::uint32_t host) const { return host != kNobody && hosts_[host].is_capture_point; }
  [[nodiscard]] const Seen* find(analysis::PacketId id) const;
  void count_transfer(const AnalysedPacket& packet, Seen& seen);
  void count_request(const AnalysedPacket& packet, Stream& stream);
  void count_response(const AnalysedPacket& packet, Stream& stream, Seen& seen);
  void take_back_arrival(const Seen& seen, bool is_sure);
  void lacks_packets(std::uint32_t host);
  void count_unseen(const analysis::Verdict& verdict, std::uint32_t sender);

  std::vector<AddressPattern> capture_points_;
  std::deque<HostCounts> hosts_;
  std::map<Gid, std::uint32_t> by_address_;
  FactCounts nobody_;
  std::deque<Stream> streams_;  // there may be very many: a vector, which grows by doubling, would take twice as much
  std::deque<Seen> seen_;
};

}  // namespace roce::analyze
