// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/captured_memory.h"
#include "replay/conversation.h"
#include "replay/played_end.h"
#include "runtime/latency.h"

namespace roce::replay {

/// Something that went otherwise than in the capture.
struct Difference {
  std::uint64_t frame = 0;  ///< of the capture
  std::string text;
};

/// How a conversation went.
struct PlayReport {
  std::size_t completed = 0;            ///< requests that ended as captured
  std::size_t arrived = 0;              ///< messages that came as captured
  std::size_t carried_out = 0;          ///< a program's other requests: WRITEs, READs, atomics
  std::uint64_t compared_bytes = 0;     ///< that came back, arrived, or lie in memory
  std::vector<Difference> differences;  ///< the first of them
  std::uint64_t difference_count = 0;
  runtime::LatencyHistogram captured;  ///< of the requests that we posted: from the first packet to the answer
  runtime::LatencyHistogram live;      ///< of the same: from posting to completion
  std::string error;                   ///< why it was given up; empty: it came to its end
};

/// Where the memory of an end that does not do what we tell it is: a captured key and what stands for it.
struct RemoteMemory {
  RKey captured{};
  LivePlace place{};  ///< of what the capture has at `captured_address`
  std::uint64_t captured_address = 0;
};

struct PlayOptions {
  double speed = 1;                             ///< think times are divided by it; 0: none
  Duration silence = std::chrono::seconds{30};  ///< with nothing happening it is given up
};

/// Carries out one conversation again: each end that is ours requests what it did in the capture, in that order, once
/// as much had completed and arrived as then, and after the same time to think. Times are parameters; what waits is
/// done by the ends.
class Player {
 public:
  /// `ends[i]` plays side i; null where a program does that which we cannot tell. `memories[i]` is the memory of side
  /// i, `remote` that of the program. All has to outlive it.
  Player(const Conversation& conversation, std::array<PlayedEnd*, 2> ends,
         std::array<const CapturedMemory*, 2> memories, std::vector<RemoteMemory> remote, const PlayOptions& options);

  /// Does what is due; true if something happened. The first call is the beginning.
  bool step(Time now);
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// When `step` has to be called although nothing came.
  [[nodiscard]] Time next_timeout() const;
  [[nodiscard]] const PlayReport& report() const { return report_; }
  /// Requests and messages so far, and all of them.
  [[nodiscard]] std::size_t done() const { return report_.completed + report_.arrived + report_.carried_out; }
  [[nodiscard]] std::size_t all() const { return all_; }

 private:
  struct Side {
    std::vector<std::size_t> operations;    ///< its own
    std::vector<std::size_t> messages;      ///< of the other side, which arrive here
    std::vector<std::size_t> from_program;  ///< requests of a program, if that is the other side
    std::size_t carried_out = 0;            ///< of those
    std::size_t posted = 0;
    std::vector<Time> ended;    ///< when, of as many of its own as have
    std::vector<Time> arrived;  ///< the same of messages
  };

  [[nodiscard]] const CapturedOperation& operation(std::size_t index) const { return conversation_.operations[index]; }
  void give_up(std::string why);
  void differ(std::uint64_t frame, std::string text);
  void take_ended(std::uint8_t side, const EndedRequest& request, Time now);
  void take_arrived(std::uint8_t side, const ArrivedMessage& message, Time now);
  /// When the next request of a side is to be posted; kNever while it waits for something, or when there is none.
  [[nodiscard]] Time due(const Side& side) const;
  /// Sees what a program at the other side has had carried out.
  [[nodiscard]] bool watch_program(std::uint8_t side);
  /// False: it has to wait.
  [[nodiscard]] bool change_memory(std::uint8_t owner, std::size_t index);
  [[nodiscard]] bool post_next(std::uint8_t side, Time now);
  [[nodiscard]] LivePlace place_of(const CapturedOperation& wanted) const;
  [[nodiscard]] bool is_complete() const;
  void compare_memory(std::uint8_t owner);

  const Conversation& conversation_;
  std::array<PlayedEnd*, 2> ends_;
  std::array<const CapturedMemory*, 2> memories_;
  std::vector<RemoteMemory> remote_;
  PlayOptions options_;
  std::array<Side, 2> sides_;
  std::array<std::size_t, 2> changes_done_{};
  std::vector<Time> posted_at_;
  std::size_t all_ = 0;
  Time begun_{};
  Time last_progress_{};
  bool has_begun_ = false;
  bool is_over_ = false;
  PlayReport report_;
};

}  // namespace roce::replay
