// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/converse/captured_memory.h"
#include "replay/converse/conversation.h"
#include "replay/converse/played_end.h"
#include "runtime/latency.h"

namespace roce::replay {

/// Something that went differently from the capture.
struct Difference {
  std::uint64_t frame = 0;  ///< its number in the capture; 0: none
  std::string text;
};

/// The outcome of a conversation.
struct PlayReport {
  std::size_t completed = 0;            ///< requests that ended as captured
  std::size_t arrived = 0;              ///< messages that came as captured
  std::size_t carried_out = 0;          ///< a program's requests that are not messages: WRITEs, READs, atomics
  std::uint64_t compared_bytes = 0;     ///< bytes that came back, arrived, or lie in memory
  std::vector<Difference> differences;  ///< the first ones
  std::uint64_t difference_count = 0;
  runtime::LatencyHistogram captured;  ///< latency of the requests that we posted: from the first packet to the answer
  runtime::LatencyHistogram live;      ///< latency of the same requests: from posting to completion
  std::string error;                   ///< why the conversation was given up; empty: it came to its end
};

/// Place of memory at an end that we do not control: a captured key and what replaces it.
struct RemoteMemory {
  RKey captured{};
  LivePlace place{};  ///< place of what the capture has at `captured_address`
  std::uint64_t captured_address = 0;
};

struct PlayOptions {
  double speed = 1;                             ///< divisor of think times; 0: no think times
  Duration silence = std::chrono::seconds{30};  ///< time without progress after which the conversation is given up
};

/// Plays one conversation again: each end that is ours posts the requests that it posted in the capture,
/// in that order, once as much has completed and arrived as then, and after the same think time. Times
/// are parameters; all waiting is left to the ends.
class Player {
 public:
  /// `ends[i]` plays side i; null where a program plays it that we do not control. `memories[i]` is the memory of side
  /// i, `remote` that of the program. All arguments have to outlive the player.
  Player(const Conversation& conversation, std::array<PlayedEnd*, 2> ends,
         std::array<const CapturedMemory*, 2> memories, std::vector<RemoteMemory> remote, const PlayOptions& options);

  /// Does what is due; true if something happened. The first call begins the conversation.
  bool step(Time now);
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Returns when `step` has to be called even if nothing came.
  [[nodiscard]] Time next_timeout() const;
  [[nodiscard]] const PlayReport& report() const { return report_; }
  /// Return the number of requests and messages that are done, and of all of them.
  [[nodiscard]] std::size_t done() const { return report_.completed + report_.arrived + report_.carried_out; }
  [[nodiscard]] std::size_t all() const { return all_; }

 private:
  struct Side {
    std::vector<std::size_t> operations;    ///< indices of its own
    std::vector<std::size_t> messages;      ///< indices of those of the other side that arrive here as messages
    std::vector<std::size_t> from_program;  ///< indices of a program's requests, if that is the other side
    std::size_t carried_out = 0;            ///< number of `from_program` that were carried out
    std::size_t posted = 0;
    std::vector<Time> ended;    ///< times at which its own ended, as far as they have
    std::vector<Time> arrived;  ///< times at which messages arrived
  };

  [[nodiscard]] const CapturedOperation& operation(std::size_t index) const { return conversation_.operations[index]; }
  void give_up(std::string why);
  void differ(std::uint64_t frame, std::string text);
  void take_ended(std::uint8_t side, const EndedRequest& request, Time now);
  void take_arrived(std::uint8_t side, const ArrivedMessage& message, Time now);
  /// Returns when the next request of a side is to be posted; kNever while it waits for something, or if there is none.
  [[nodiscard]] Time due(const Side& side) const;
  /// Notes which requests of a program at the other side were carried out; true if there are new ones.
  [[nodiscard]] bool watch_program(std::uint8_t side);
  /// Makes the changes that `owner`'s program made before operation `index`. False: this has to wait.
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
