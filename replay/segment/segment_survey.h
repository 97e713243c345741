// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "replay/segment/psn_map.h"
#include "replay/segment/request_log.h"
#include "roce/analysis/tracker.h"

namespace roce::replay {

/// A flow: packets from one address to one QP, with VLANs and tunnels kept apart.
struct SegmentFlow {
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;
  Qpn qp{};
  friend auto operator<=>(const SegmentFlow& a, const SegmentFlow& b) {
    return std::tie(a.qp, a.domain, a.source.octets, a.destination.octets) <=>
           std::tie(b.qp, b.domain, b.source.octets, b.destination.octets);
  }
};

[[nodiscard]] SegmentFlow segment_flow_of(const analysis::Observation& packet);

/// True if a packet belongs to a connection and none of its headers is missing.
[[nodiscard]] bool is_of_connection(const Packet& packet, const analysis::Observation& seen);

/// A connection whose messages stay as they are.
struct LeftConnection {
  std::string name;  ///< `10.77.0.2 -> 10.77.0.3 QP 0x11`
  Uncuttable reason{};
};

/// Maps the PSNs of all connections of a capture to those that they get when messages are cut into other packets.
class SegmentPlan {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  /// The treatment of packets of a flow: indices into `maps`, or `kNone`, with which their PSNs stay.
  struct Part {
    std::uint64_t first_packet = 0;  ///< number of its first packet, from 1 in the order of the capture
    std::uint32_t requests = kNone;
    std::uint32_t responses = kNone;
    bool is_left = false;  ///< its connection stays as it is
  };

  /// Returns the part of a flow that packet `number` belongs to; null if nothing is known of the flow.
  [[nodiscard]] const Part* find(const SegmentFlow& flow, std::uint64_t number) const;

  std::uint32_t path_mtu = 0;  ///< size that the messages are cut into, in bytes
  std::map<SegmentFlow, std::vector<Part>> flows;
  std::vector<PsnMap> maps;
  std::uint64_t connections = 0;  ///< connections that are cut anew
  std::vector<LeftConnection> left;
};

/// Learns from a capture how its messages can be cut anew: first all packets in order, then the plan.
class SegmentSurvey {
 public:
  /// `path_mtu` is 256, 512, 1024, 2048 or 4096.
  explicit SegmentSurvey(std::uint32_t path_mtu);

  /// Takes the next frame, which is of `link_type`; `time` is by the capture's clock.
  void learn(const Packet& packet, LinkType link_type, Time time);
  /// Ends the capture and returns the plan; nothing may be learnt afterwards.
  [[nodiscard]] SegmentPlan finish();

 private:
  using Label = std::pair<std::uint32_t, std::uint8_t>;  ///< stream and direction, by the tracker's numbers
  static constexpr std::size_t kNoEpoch = ~std::size_t{0};
  /// A flow from one of its packets on: another connection may use its numbers later.
  struct Epoch {
    SegmentFlow flow{};
    std::uint64_t first_packet = 0;
    Label label{};
    RequestLog requests;
    bool is_reliable = false;
    bool has_answers = false;
    bool is_cut = false;              ///< the snap length cut a packet
    std::set<std::uint32_t> sizes{};  ///< payload sizes of packets that do not end their message; two at most
    std::uint32_t longest = 0;        ///< largest payload
    std::size_t partner = kNoEpoch;   ///< index of the other direction
  };
  /// The facts that are kept of a stream that the tracker has closed.
  struct Closed {
    std::array<Gid, 2> ends{};
    std::array<std::optional<Qpn>, 2> qpns{};
    std::uint64_t domain = 0;
  };

  /// Takes a RoCE packet; each packet of a super-frame comes as the frame that it was on the wire.
  void learn_one(const Packet& packet, const IcrcVerdict& icrc, Time time);
  [[nodiscard]] Epoch& epoch_of(const SegmentFlow& flow, Label label);
  void collect_closed();
  void pair_epochs();
  [[nodiscard]] std::optional<Label> label_of_joined(const Epoch& epoch,
                                                     const std::map<Label, std::size_t>& known) const;
  [[nodiscard]] bool has_stray_answers(const Epoch& requests) const;
  [[nodiscard]] tl::expected<std::vector<PsnMap>, Uncuttable> maps_of(
      const std::vector<const Epoch*>& connection) const;
  void plan_connection(std::size_t index, SegmentPlan& plan) const;

  std::uint32_t path_mtu_;
  analysis::Tracker tracker_;
  std::uint64_t learnt_ = 0;
  std::map<SegmentFlow, std::vector<std::size_t>> flows_;  ///< indices into `epochs_`, in order
  std::vector<Epoch> epochs_;
  std::map<std::uint32_t, Closed> closed_;
  std::vector<std::byte> cut_;
};

}  // namespace roce::replay
