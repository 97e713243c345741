// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "roce/analysis/tracker.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Makes a capture that is played several times look like one long run to its receivers: the PSNs of each play follow
/// those of the play before, QP by QP. The requests of a QP take as many PSNs again as in the capture, their answers
/// follow them, and a REQ or REP of the communication manager announces them. Datagrams count by the QP that sends
/// them. First all packets are learnt in the order of the capture, then they are moved.
class PsnContinuation {
 public:
  /// Flow of packets whose PSN stays.
  static constexpr std::uint32_t kNoFlow = 0xFFFF'FFFF;

  PsnContinuation();

  /// Takes the next packet of the capture; `time` is by the capture's clock.
  void learn(const Packet& packet, const IcrcVerdict& icrc, Time time);
  /// Ends the learning; call it after the last packet of the capture.
  void finish();

  /// Returns the flow of a packet, as `move` takes it: the same in each play.
  [[nodiscard]] std::uint32_t flow_of(const Packet& packet) const;
  /// Turns a packet of the capture into that of a later play, with `plays` plays before it. Makes its ICRC and UDP
  /// checksum fit again; wrong ones stay wrong, in the same bits. `packet` is a view of `frame` and belongs to flow
  /// `flow`; `is_sound`: its ICRC is known to be right.
  void move(std::span<std::byte> frame, const Packet& packet, std::uint32_t flow, bool is_sound,
            std::uint64_t plays) const;

 private:
  /// A sequence of PSNs: from an address to a QP, or the datagrams of a QP, without a destination.
  struct Key {
    Gid source{};
    Gid destination{};
    Qpn qp{};
    friend auto operator<=>(const Key& a, const Key& b) {
      return std::tie(a.qp, a.source.octets, a.destination.octets) <=>
             std::tie(b.qp, b.source.octets, b.destination.octets);
    }
  };
  /// PSNs that follow one another, with wraps and repetitions.
  struct Range {
    Psn newest{};
    std::uint64_t count = 0;  ///< from the first to the newest
    void extend(Psn first, std::uint32_t psns);
  };
  struct Flow {
    std::optional<Range> requests{};
    std::optional<Range> responses{};
    std::uint32_t stream = analysis::kNoStream;
    std::uint8_t direction = 0;
    std::uint32_t request_span = 0;   ///< PSNs that a play takes; known at the end
    std::uint32_t response_span = 0;  ///< the same for the requests that the responses of this flow answer
  };

  [[nodiscard]] static Key key_of(const Packet& packet, const NetMeta& net);
  [[nodiscard]] std::uint32_t find(const Key& key) const;

  analysis::Tracker tracker_;
  std::map<Key, std::uint32_t> places_;  ///< index in `flows_`
  std::vector<Flow> flows_;
  std::uint64_t learnt_ = 0;
};

}  // namespace roce::replay
