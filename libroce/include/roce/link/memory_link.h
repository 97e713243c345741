// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "roce/link/link.h"

namespace roce::link {

struct MemoryLinkOptions {
  LinkKind kind = LinkKind::ethernet;
  /// Longest frame in bytes; longer ones are counted in `send_errors`.
  std::size_t max_bytes = 9 << 10;
  /// Frames that can wait at one end, at least 1. A further one is lost, and counted in that end's `receive_drops`.
  std::size_t capacity_frames = 1024;
  /// Returns the arrival time of a frame, in nanoseconds since the Unix epoch; without it timestamps are 0.
  std::function<std::int64_t()> clock{};
};

/// One end of a wire inside the process: a frame that one end sends is at the other at once. Each end
/// may belong to a thread of its own.
class MemoryLink final : public Link {
 public:
  using Pair = std::pair<std::unique_ptr<MemoryLink>, std::unique_ptr<MemoryLink>>;

  /// Makes the two ends of one wire. Either may be destroyed first: frames sent to it are then lost.
  /// Errors: a capacity of 0; no more files may be opened.
  [[nodiscard]] static LinkResult<Pair> make_pair(const MemoryLinkOptions& options);
  ~MemoryLink() override;

  [[nodiscard]] LinkKind kind() const override;
  [[nodiscard]] std::size_t max_bytes() const override;
  [[nodiscard]] LinkResult<std::size_t> receive(std::span<RxFrame> frames) override;
  /// Takes every frame.
  [[nodiscard]] LinkResult<std::size_t> send(std::span<const TxFrame> frames) override;
  [[nodiscard]] int fd() const override;
  [[nodiscard]] LinkCounters counters() const override;

 private:
  struct Inbox;
  MemoryLink(const MemoryLinkOptions& options, std::shared_ptr<Inbox> own, const std::shared_ptr<Inbox>& other);

  LinkKind kind_;
  std::size_t max_bytes_;
  std::shared_ptr<Inbox> inbox_;
  std::weak_ptr<Inbox> other_;
  LinkCounters counters_;
};

}  // namespace roce::link
