// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/nvme_depth.h"
#include "analysis/nvme_recoveries.h"
#include "analysis/nvme_spans.h"
#include "roce/analysis/nvme.h"

namespace roce::analysis {

/// Follows the commands of one connection.
class NvmeQueueFollower {
 public:
  /// `room` must outlive the object.
  NvmeQueueFollower(std::uint32_t index, const NvmeQueue& queue, NvmeRoom& room)
      : room_(room), index_(index), summary_(queue) {}

  /// Takes a packet of the connection. Returns true if a command begins with it.
  bool observe(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis);
  /// Takes what later packets have shown about an earlier one.
  void observe(const Verdict& verdict);
  /// Tells that its connection was found to be a part of another stream: directions are the other way round.
  void move_to(std::uint32_t stream);
  /// Takes the counts of one that proved to be of the same connection. Answers to earlier commands may be lost in it.
  void take(NvmeQueueFollower& other);
  void close() { summary_.is_closed = true; }
  /// Reports everything that is open. `latest` is the time of the last packet of its capture point.
  void finish(Time latest);

  [[nodiscard]] NvmeQueue& summary() { return summary_; }
  [[nodiscard]] NvmeQueue result() const;

 private:
  struct Command {
    NvmeExchange exchange{};
    Time capsule_end{};
    std::uint64_t memory_begin = 0;  ///< of its data, the part that the target has asked for or written
    std::uint64_t memory_end = 0;
    std::int64_t response_psn = 0;
    PacketId later_response{};  ///< its response sent again, though the first may have arrived
    Time later_time{};
    bool is_counted = true;    ///< in the queue's depth
    bool is_doubtful = false;  ///< its answer may have been seen without being known as one
  };
  using Commands = std::map<std::uint64_t, Command>;
  /// A request of the target that was lost, and when it was sent again: until then the host took no later one.
  struct Hole {
    std::int64_t psn = 0;
    Time filled{};
  };
  /// A packet that is part of a command.
  struct Part {
    const Packet& packet;
    const Observation& seen;
    std::int64_t psn = 0;
    bool is_resent = false;
    bool is_spurious = false;  ///< it had arrived before
    bool is_needed = false;    ///< sent again because its receiver said that it had not taken it
    bool was_unseen = false;   ///< sent again, and the transmission before is not in the capture
  };

  bool on_command(const Part& part);
  bool begin_command(const Part& part);
  void learn_from(const NvmeCommand& command, const Part& part);
  void on_response(const Part& part);
  void begin_response(const Part& part);
  void judge_later(Command& command);
  static void take_later(Command& command);
  void on_target_data(const Part& part);
  static void note_memory(Command& command, const Observation& seen);
  void on_host_data(const Part& part);
  void add_data(Command& command, const Part& part);
  void note_recovery(const Verdict& resent, const Part& part, Time before);
  void note_keep_alive(Time time);
  [[nodiscard]] bool waits_for_events(const NvmeCommand& command) const;
  [[nodiscard]] Command* find(std::uint64_t serial);
  /// Returns the command whose memory a request of the target begins in; 0 if it is of none.
  [[nodiscard]] std::uint64_t find_by_memory(const Observation& seen) const;
  void report(std::uint64_t serial, NvmeEnd end, Time finish);
  void settle();

  NvmeRoom& room_;
  std::uint32_t index_;
  NvmeQueue summary_;
  Commands commands_;
  std::unordered_map<std::uint16_t, std::uint64_t> by_id_;
  std::map<std::pair<RKey, std::uint64_t>, std::uint64_t> by_memory_;  ///< by key and address
  std::deque<std::uint64_t> answered_;  ///< not reported yet: the response may be sent again
  NvmeSpans of_host_;
  NvmeSpans of_target_;
  std::array<Time, 2> last_request_{};  ///< by direction
  NvmeRecoveries recoveries_;
  std::deque<Hole> resent_;  ///< all requests of the target that were sent again
  std::deque<Hole> holes_;
  std::int64_t latest_psn_ = -1;  ///< the highest of the target's requests, relative
  Psn latest_wire_psn_{};         ///< the same on the wire
  std::uint64_t next_serial_ = 1;
  Duration longest_latency_{};
  NvmeDepth depth_;
  std::optional<Time> last_keep_alive_{};
  bool target_was_seen_ = false;
  Time last_missed_{};  ///< when the capture last showed that it lacks a packet of the connection
};

}  // namespace roce::analysis
