// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "roce/transport/device.h"

namespace roce::live {

/// The sinks of a client of the control protocol (docs/control.md): receives that are posted again by themselves. The
/// data that arrive in them are compared, a part at a time, with the pattern that they should have.
class ControlSinks {
 public:
  /// The slots for the messages of a queue pair, and the pattern that they should have.
  struct Slots {
    std::span<const std::byte> bytes;  ///< registered memory, `slot_bytes` for each slot; outlives the sink
    transport::Sge area;               ///< the same memory, as the device addresses it
    std::uint32_t slot_bytes = 0;
    bool datagrams =
        false;  ///< each slot begins with the network header, and a message carries its number as immediate data
    std::uint64_t seed = 0;   ///< parameter of `message_seed`, with `index`
    std::uint32_t index = 0;  ///< number of the queue pair in the exchange
  };
  struct Counts {
    std::uint64_t received = 0;  ///< messages that were compared
    std::uint64_t wrong = 0;     ///< those of them that were wrong
  };
  /// Work request numbers from this one on belong to sinks.
  static constexpr std::uint64_t kFirstRequest = std::uint64_t{1} << 63;

  explicit ControlSinks(transport::Device& device) : device_(device) {}

  /// Posts a receive for each of `count` slots (65,536 at most). If one cannot be posted, returns its error, and there
  /// is no sink; what arrives in the receives before it is ignored.
  transport::VerbResult<void> add(Qpn qpn, const Slots& slots, std::uint64_t count);
  [[nodiscard]] bool contains(Qpn qpn) const { return sinks_.contains(qpn); }
  /// Returns the counts of a queue pair; nullptr if it has no sink.
  [[nodiscard]] const Counts* counts(Qpn qpn) const;
  void remove(Qpn qpn);
  void clear();

  /// Takes the completion of a receive that was posted here.
  void take(const transport::Completion& completion);
  /// True if so much waits to be compared that no more completions may be taken.
  [[nodiscard]] bool is_full() const;
  /// Compares data that arrived, for a fraction of a millisecond; true if there is more.
  bool compare();

 private:
  struct Sink {
    Slots slots;
    Counts counts;
    std::uint64_t arrived = 0;
    std::uint64_t number = 0;  // of all sinks of this session; part of the work request numbers
  };
  /// A message that is not yet compared to its end.
  struct Arrival {
    Qpn qpn{};
    std::uint64_t slot = 0;
    std::span<const std::byte> data;
    std::uint64_t seed = 0;
    std::size_t done = 0;  // bytes
    bool is_wrong = false;
  };

  [[nodiscard]] transport::VerbResult<void> post(Qpn qpn, const Sink& sink, std::uint64_t slot);
  void end(const Arrival& arrival);

  transport::Device& device_;
  std::map<Qpn, Sink> sinks_;
  std::uint64_t next_number_ = 0;
  std::deque<Arrival> arrivals_;
};

}  // namespace roce::live
