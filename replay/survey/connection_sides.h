// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/rules/rewrite_text.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/cm_types.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// The ends of connections that are side 0.
struct SideEnds {
  bool clients = false;       ///< all ends that asked for the connection: sent CM REQ or SIDR_REQ
  std::vector<QpName> qps{};  ///< these queue pairs
  [[nodiscard]] bool empty() const { return !clients && qps.empty(); }
};

/// A queue pair of a host.
struct QpEnd {
  Gid host{};
  Qpn qpn{};
  friend auto operator<=>(const QpEnd&, const QpEnd&) = default;
};

/// Tells which side sent a frame by the connection that the frame belongs to. A packet of a connection names only the
/// queue pair that it goes to, so the captures have to be read to their end first (`SideSurvey`).
class ConnectionSides {
 public:
  /// Returns the side of the sender: 0 or 1; none if nothing tells it. `time` is the one given to `SideSurvey::learn`;
  /// it distinguishes connections that used the same queue pairs one after the other.
  [[nodiscard]] std::optional<std::uint8_t> side_of(const Packet& packet, Time time) const;

 private:
  friend class SideSurvey;

  struct Flow {
    Gid source{};
    QpEnd destination{};
    friend auto operator<=>(const Flow&, const Flow&) = default;
  };
  struct Since {
    Time start{};
    std::uint8_t sender = 0;
  };
  using CmEnd = std::pair<Gid, std::uint32_t>;  ///< host and its communication ID
  using Sides = std::array<bool, 2>;            ///< sides from which something was sent

  [[nodiscard]] std::optional<std::uint8_t> side_of_end(const QpEnd& end) const;
  [[nodiscard]] std::optional<std::uint8_t> side_of_message(const Packet& packet, const NetMeta& net) const;

  std::map<QpEnd, std::uint8_t> ends_;
  std::map<Flow, std::vector<Since>> flows_;  ///< ordered by start
  std::map<CmEnd, std::uint8_t> managers_;    ///< by communication ID
  std::set<CmEnd> askers_;                    ///< senders of a SIDR_REQ, by request ID: side 0
  std::map<MacAddress, Sides> hosts_;
};

/// Reads the captures for `ConnectionSides`. Pure: packets in, facts out.
class SideSurvey {
 public:
  explicit SideSurvey(SideEnds wanted);

  void learn(const Packet& packet, Time time);
  /// Returns the sides; call once, after the last packet. The error is a sentence that names the end in no connection.
  [[nodiscard]] ReadResult<ConnectionSides> finish();

 private:
  struct CmState {
    QpEnd end{};
    bool is_client = false;
    std::optional<ConnectionSides::CmEnd> peer{};
  };

  void learn_cm(const Packet& packet, const NetMeta& net, Time time);
  [[nodiscard]] bool is_wanted(const QpEnd& end) const;
  /// Returns the side of an end at a time: 0 if wanted; with `clients`, 0 for a client and 1 for a server; else none.
  [[nodiscard]] std::optional<std::uint8_t> side_of(const QpEnd& end, Time time) const;
  [[nodiscard]] std::optional<std::uint8_t> side_of(const CmState& manager) const;
  void add_streams(ConnectionSides& sides) const;
  void add_managers(ConnectionSides& sides) const;
  void add_hosts(ConnectionSides& sides) const;

  SideEnds wanted_;
  analysis::Tracker tracker_;
  std::uint64_t packets_ = 0;
  std::set<QpEnd> ends_;  ///< all ends that were seen
  /// Roles by CM: the time from which on an end was a client's (true) or a server's (false).
  std::map<QpEnd, std::map<Time, bool>> roles_;
  std::map<ConnectionSides::CmEnd, CmState> managers_;
  std::set<ConnectionSides::CmEnd> askers_;  ///< senders of a SIDR_REQ, by request ID
  std::set<std::pair<MacAddress, ConnectionSides::Flow>> senders_;
};

}  // namespace roce::replay
