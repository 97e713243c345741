// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/wire/icmp_error.h"
#include "roce/wire/neighbour_message.h"

namespace roce::analysis {

/// A frame that is not RoCE and says whether hosts can be reached.
struct ReachNotice {
  Time time{};  ///< within the bounds of `Observation::time`
  PacketId id{};
  std::uint16_t point = 0;  ///< `Observation::point`
  std::variant<NeighbourMessage, IcmpError> message{};
};

/// Returns the notice in a frame that is not RoCE; nothing if it says nothing about that. `time` is limited as by
/// `observe_packet`.
[[nodiscard]] std::optional<ReachNotice> read_reach_notice(const Packet& packet, Time time, PacketId id,
                                                           std::uint16_t point);

/// Questions of one host where an address is, in a row without an answer, at most `NeighbourSummary::kInARow` from one
/// to the next. A host that was answered, even if the capture lacks that, does not ask again so soon.
struct NeighbourQuestions {
  std::uint64_t count = 0;
  Gid asker{};
  Time begin{};  ///< time of the first
  Time end{};    ///< time of the last

  friend bool operator==(const NeighbourQuestions&, const NeighbourQuestions&) = default;
};

/// Neighbour messages about one address: ARP, or neighbour discovery of IPv6.
struct NeighbourSummary {
  std::uint16_t point = 0;
  Gid address{};
  /// Most questions in a row since the host was heard last, the latest of several rows; probes do not count.
  NeighbourQuestions longest_row{};
  std::optional<Time> heard{};         ///< time of the last message of the host: who asks is alive, too (RFC 826)
  std::optional<MacAddress> mac{};     ///< where it is, as was said last
  std::optional<MacAddress> before{};  ///< where it was, before that changed for the last time
  Time moved{};                        ///< with `before`: time at which another MAC address was said
  std::uint64_t announcements = 0;     ///< that were not asked for
  Time announced{};                    ///< time of the last of these

  /// Hosts repeat a question after 1 s (RFC 4861, 10; Linux does so for ARP).
  static constexpr Duration kInARow{3'000'000'000};

  friend bool operator==(const NeighbourSummary&, const NeighbourSummary&) = default;
};

/// Errors of one kind about packets from one host to another.
struct IcmpErrorSummary {
  std::uint16_t point = 0;
  Gid source{};  ///< of the packets
  Gid destination{};
  Undelivered why{};
  std::uint64_t count = 0;
  Gid reporter{};           ///< of the first
  std::uint32_t mtu = 0;    ///< the least that was said, bytes of an IP packet; 0: none was
  std::uint32_t least = 0;  ///< size of the smallest packet, bytes
  PacketId first{};
  Time since{};
  Time latest{};

  friend bool operator==(const IcmpErrorSummary&, const IcmpErrorSummary&) = default;
};

/// Collects what frames beside RoCE say about hosts that cannot be reached, or that moved. Bounded, deterministic,
/// without I/O and clock.
class ReachSurvey {
 public:
  /// Remembers at most `most` addresses, and as many kinds of errors between hosts.
  explicit ReachSurvey(std::size_t most = 4096) : most_(most) {}

  void observe(const ReachNotice& notice);

  /// Returns what was said so far, by capture point and address.
  [[nodiscard]] std::vector<NeighbourSummary> neighbours() const;
  /// Returns the errors so far, by capture point and addresses.
  [[nodiscard]] std::vector<IcmpErrorSummary> errors() const;
  /// Returns the number of messages for which there was no room.
  [[nodiscard]] std::uint64_t uncounted_messages() const { return uncounted_; }

 private:
  struct Neighbour {
    NeighbourSummary summary;
    NeighbourQuestions row;  ///< the one that the last question belongs to
  };

  void take(const ReachNotice& notice, const NeighbourMessage& message);
  Neighbour* find_neighbour(std::uint16_t point, const Gid& address);
  static void hear(Neighbour& neighbour, Time now);
  void take(const ReachNotice& notice, const IcmpError& error);
  static void take_question(Neighbour& neighbour, const ReachNotice& notice, const NeighbourMessage& message);

  std::map<std::pair<std::uint16_t, Gid>, Neighbour> neighbours_;
  std::map<std::tuple<std::uint16_t, Gid, Gid, Undelivered>, IcmpErrorSummary> errors_;
  std::size_t most_;
  std::uint64_t uncounted_ = 0;
};

}  // namespace roce::analysis
