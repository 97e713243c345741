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
  /// Descriptors for reading and writing: a connected stream socket (both the same), or the ends of two pipes.
  int receive_fd = -1;
  int send_fd = -1;
  /// Name of the other end for messages: a path.
  std::string name;
  /// The longest frame that is accepted, Ethernet header and VLAN tags included:
  /// `StreamLink::kShortestLimit` … `kLongestLimit`.
  std::size_t max_bytes = 9018;
  /// Time limit for the hello of the other end.
  std::chrono::milliseconds hello_timeout{10'000};
};

/// Ethernet frames with a length in front, over a stream: connects an endpoint to a simulation of hardware.
/// The format is docs/stream-link.md, version 1.
///
/// The other end may have a time of its own, announced in its hello. Then nothing happens between two of its times:
/// frames that came in are received once `take_time` has returned their time; until then, and after `tell_next`,
/// `send` takes no frames. `RxFrame::timestamp_ns` is that time, or else the time of `receive`.
///
/// `fd` also becomes readable when there is room again after `send` took fewer frames than it was given.
/// A program that sends through a pipe has to ignore SIGPIPE.
class StreamLink final : public Link {
 public:
  static constexpr std::uint16_t kVersion = 1;
  static constexpr std::size_t kShortestLimit = 512;
  static constexpr std::size_t kLongestLimit = 65535;

  /// Takes over the descriptors, even if it fails, and exchanges hellos, which may take `hello_timeout`.
  /// Errors: not descriptors of a stream; the other end is gone, is silent, speaks something else, or another version.
  [[nodiscard]] static LinkResult<std::unique_ptr<StreamLink>> open(const StreamLinkOptions& options);
  ~StreamLink() override;

  [[nodiscard]] LinkKind kind() const override { return LinkKind::ethernet; }
  /// Returns the smaller of the limits of both ends.
  [[nodiscard]] std::size_t max_bytes() const override;
  /// Errors: the other end closed, or broke the format; it is told what was wrong.
  /// Frames that were complete before that are received first.
  [[nodiscard]] LinkResult<std::size_t> receive(std::span<RxFrame> frames) override;
  [[nodiscard]] LinkResult<std::size_t> send(std::span<const TxFrame> frames) override;
  [[nodiscard]] int fd() const override;
  [[nodiscard]] LinkCounters counters() const override;

  /// True if the other end announced a time of its own.
  [[nodiscard]] bool has_virtual_time() const;
  /// Returns the next time that the other end sent, since the beginning of its time;
  /// empty if it sent none since the last. Must not be called before the last one was answered.
  /// Invalidates the frames that `receive` returned. Errors: as for `receive`, and a time earlier than the last.
  [[nodiscard]] LinkResult<std::optional<std::chrono::nanoseconds>> take_time();
  /// Answers a time: all frames of that time were sent,
  /// and there is something to do at `next` even if nothing comes in; empty: never.
  [[nodiscard]] LinkResult<void> tell_next(std::optional<std::chrono::nanoseconds> next);
  /// Asks for a time while none is to be answered: there is something to do earlier than the last answer stated.
  [[nodiscard]] LinkResult<void> wake();

 private:
  struct State;
  explicit StreamLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
