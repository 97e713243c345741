// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roce/analysis/observation.h"
#include "wireshark/parts/request_channel.h"

namespace roce::plugin {

/// The PSNs that each message takes, learned from requests in any order. PSNs are relative to the first one of their
/// channel and do not wrap. Memory: 40 bytes per message.
class MessageSpans {
 public:
  /// The PSNs of one message.
  struct Span {
    std::int64_t first = 0;
    std::uint32_t count = 0;      ///< 0: not known yet
    std::uint32_t mtu = 0;        ///< payload of each packet but the last; 0: not known yet
    analysis::PacketId packet{};  ///< the packet that began it, when it was seen for the first time
    friend bool operator==(const Span&, const Span&) = default;
  };

  /// Takes a request or a READ response, undamaged and not a copy.
  void observe(RequestChannel channel, std::int64_t psn, const analysis::Observation& observation);
  /// Gives what was learned of one channel to another one: they proved to be the same.
  void move(RequestChannel from, RequestChannel to) { channels_.move(from, to); }
  /// Forgets a channel, for another connection.
  void forget(RequestChannel channel) { channels_[channel] = {}; }
  /// Returns the message that a PSN belongs to; nothing if the packet that began it was not seen, or if packets between
  /// the two are missing and it is therefore uncertain.
  [[nodiscard]] std::optional<Span> find(RequestChannel channel, std::int64_t psn) const;
  /// Returns how many messages were begun after the PSN.
  [[nodiscard]] std::uint32_t begun_after(RequestChannel channel, std::int64_t psn) const;

 private:
  struct Begin {
    std::int64_t psn = 0;
    analysis::PacketId packet{};
    std::uint64_t address_end = 0;  ///< READ: the address behind its data
    std::uint32_t length = 0;       ///< READ: bytes
    std::uint32_t count = 0;        ///< PSNs; 0: not known by itself
    std::uint32_t payload = 0;      ///< of the packet that begins it
    bool is_read = false;
  };
  /// PSNs that were seen, without a gap between them.
  struct Run {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };
  struct State {
    std::vector<Begin> begins;        ///< by PSN
    std::vector<std::int64_t> lasts;  ///< PSNs of packets that end messages of several
    std::vector<Run> runs;            ///< of requests of several packets, by PSN
    std::uint32_t read_mtu = 0;       ///< payload of a packet that others follow; 0: none was seen
  };

  static void begin_message(State& state, std::int64_t psn, const analysis::Observation& observation);
  static void mark_seen(State& state, std::int64_t psn);
  [[nodiscard]] static bool all_seen(const State& state, std::int64_t first, std::int64_t last);
  [[nodiscard]] static std::uint32_t count_of(const State& state, const Begin& begin);

  PerChannel<State> channels_;
};

}  // namespace roce::plugin
