// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "roce/analysis/verdict.h"
#include "wireshark/parts/request_channel.h"

namespace roce::plugin {

/// The packets that have to do with the same loss: the one that showed a gap, the NAK, and the packets sent again.
class LossLinks {
 public:
  /// Links of one packet; empty where there is none.
  struct Links {
    analysis::PacketId sent_before{};  ///< the transmission before this one
    analysis::PacketId sent_again{};   ///< the next transmission; for a NAK, the first packet sent again because of it
    analysis::PacketId nak{};          ///< the NAK or RNR NAK that asked for this packet, or for the gap before it
    analysis::PacketId gap{};          ///< the packet before which this one, or what this NAK asks for, was missing
    analysis::PacketId filled{};       ///< the first packet that was missing before this one
  };
  /// A request or response, with its immediate verdicts.
  struct Judged {
    analysis::PacketId packet{};
    std::int64_t psn = 0;  ///< relative PSN
    Psn wire_psn{};
    std::span<const analysis::Verdict> verdicts;
  };

  void observe(RequestChannel channel, const Judged& judged);
  void move(RequestChannel from, RequestChannel to) { channels_.move(from, to); }
  /// Forgets a channel, for another connection.
  void forget(RequestChannel channel) { channels_[channel] = {}; }
  /// Returns the links of a packet; null if it has none.
  [[nodiscard]] const Links* find(analysis::PacketId packet) const;

 private:
  struct Gap {
    std::int64_t first = 0;
    std::int64_t end = 0;
    analysis::PacketId shown_by{};
  };
  struct Nak {
    analysis::PacketId packet{};
    std::int64_t psn = 0;
  };
  struct State {
    std::vector<Gap> gaps;
    std::optional<Nak> nak;
  };

  /// Returns the packet before which a PSN was missing; empty if it was not.
  [[nodiscard]] static analysis::PacketId gap_of(const State& state, std::int64_t psn);
  void fill_gap(const State& state, const Judged& judged);
  void take_nak(State& state, const Judged& judged);
  void take_retransmission(const State& state, const Judged& judged, const analysis::Verdict& verdict);

  PerChannel<State> channels_;
  std::map<analysis::PacketId, Links> links_;
};

}  // namespace roce::plugin
