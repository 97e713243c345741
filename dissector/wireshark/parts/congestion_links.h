// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "roce/analysis/observation.h"
#include "wireshark/parts/request_channel.h"

namespace roce::plugin {

/// CE marks, the CNPs that report them, and the data rate of the sender before and after a CNP.
class CongestionLinks {
 public:
  /// A CNP, as the capture point saw what it is about.
  struct Cnp {
    analysis::PacketId first_mark{};  ///< the first CE mark since the CNP before; empty: none was seen
    std::uint32_t marks = 0;          ///< CE marks since the CNP before
    Duration since_mark{};            ///< time since `first_mark`
    std::uint64_t bytes_before = 0;   ///< bytes of data frames in the `kReactionWindow` before the CNP
    std::uint64_t bytes_after = 0;    ///< and in the one after it
    /// The rates count: the capture goes on after the window that follows the CNP, and the CNP before came earlier than
    /// one window before it.
    bool is_measured = false;
  };

  /// Takes a packet with data of one direction of a stream.
  void data(RequestChannel sender, const analysis::Observation& observation);
  /// Takes a CNP that goes to the sender of the data.
  void cnp(RequestChannel sender, const analysis::Observation& observation);

  /// Gives what is known of one sender to another one: they proved to be the same.
  void move(RequestChannel from, RequestChannel to) { states_.move(from, to); }

  /// Returns a CNP by its packet; null if that is none.
  [[nodiscard]] const Cnp* find_cnp(analysis::PacketId packet) const;
  /// Returns the CNP that reports the CE mark of a packet; empty if none was seen.
  [[nodiscard]] analysis::PacketId cnp_for_mark(analysis::PacketId packet) const;

 private:
  struct Sent {
    Time time{};
    std::uint32_t bytes = 0;
  };
  struct State {
    std::deque<Sent> window;  ///< the data of the last `kReactionWindow`
    std::uint64_t window_bytes = 0;
    std::vector<analysis::PacketId> marks;  ///< since the last CNP
    Time first_mark_time{};
    analysis::PacketId measured{};  ///< the CNP whose window afterwards has not ended
    Time measured_since{};
  };

  static void forget_old(State& state, Time now);
  void measure(State& state, Time now, std::uint32_t bytes);

  PerChannel<State> states_;
  std::map<analysis::PacketId, Cnp> cnps_;
  std::map<analysis::PacketId, analysis::PacketId> by_mark_;
};

}  // namespace roce::plugin
