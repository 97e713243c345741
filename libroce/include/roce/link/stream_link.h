// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

struct StreamLinkOptions {
  /// Open for reading, and for writing: a connected stream socket (both the same), or the ends of two pipes.
  int receive_fd = -1;
  int send_fd = -1;
  /// What people call the other end, for messages: a path.
  std::string name;
  /// The longest frame that is taken, Ethernet header and VLAN tags included: `StreamLink::kShortestLimit` …
  /// `kLongestLimit`.
  std::size_t max_bytes = 9018;
  /// How long the other end has to say hello.
  std::chrono::milliseconds hello_timeout{10'000};
};

/// Ethernet frames with a length in front, over a stream: what connects an endpoint to a simulation of hardware. The
/// format is docs/stream-link.md, version 1.
///
/// The other end may have a time of its own, and says so in its hello. Then nothing happens between two of its times:
/// frames that came are received once `take_time` has their time, and `send` takes none until then and after
/// `tell_next`. `RxFrame::timestamp_ns` is that time, else that of `receive`.
///
/// `fd` becomes readable also when there is room again after `send` took fewer than it was given. Whoever sends
/// through a pipe has to ignore SIGPIPE.
class StreamLink final : public Link {
 public:
  static constexpr std::uint16_t kVersion = 1;
  static constexpr std::size_t kShortestLimit = 512;
  static constexpr std::size_t kLongestLimit = 65535;

  /// Takes the files over, also when it fails, and exchanges hellos, which may take `hello_timeout`. Errors: files that
  /// are none of a stream; the other end is gone, says nothing, speaks something else, or another version.
  [[nodiscard]] static LinkResult<std::unique_ptr<StreamLink>> open(const StreamLinkOptions& options);
  ~StreamLink() override;

  [[nodiscard]] LinkKind kind() const override { return LinkKind::ethernet; }
  /// The smaller of what both ends take.
  [[nodiscard]] std::size_t max_bytes() const override;
  /// Errors: the other end closed, or broke the format; it is told what was wrong. What was whole before is received
  /// first.
  [[nodiscard]] LinkResult<std::size_t> receive(std::span<RxFrame> frames) override;
  [[nodiscard]] LinkResult<std::size_t> send(std::span<const TxFrame> frames) override;
  [[nodiscard]] int fd() const override;
  [[nodiscard]] LinkCounters counters() const override;

  /// Whether the other end says what time it is.
  [[nodiscard]] bool has_virtual_time() const;
  /// The next time that the other end says, since the beginning of its time; none if it said none since the last. Not
  /// before the last one was answered. Frames that `receive` gave are gone. Errors: as `receive`, and a time before the
  /// last.
  [[nodiscard]] LinkResult<std::optional<std::chrono::nanoseconds>> take_time();
  /// Answers a time: all was sent that was to be sent, and there is something to do at `next` although nothing comes;
  /// none: never.
  [[nodiscard]] LinkResult<void> tell_next(std::optional<std::chrono::nanoseconds> next);
  /// Asks for a time, where none is to be answered: there is something to do earlier than the last answer said.
  [[nodiscard]] LinkResult<void> wake();

 private:
  struct State;
  explicit StreamLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
