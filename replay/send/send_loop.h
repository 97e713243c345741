// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/send/pacing.h"
#include "replay/send/play_feed.h"
#include "roce/link/link.h"
#include "runtime/latency.h"
#include "runtime/stop_signal.h"

namespace roce::replay {

/// Totals of what was sent.
struct SendTotals {
  std::array<std::uint64_t, 2> frames{};   ///< frames that the link of each side took
  std::array<std::uint64_t, 2> bytes{};    ///< bytes of these frames
  std::array<std::uint64_t, 2> refused{};  ///< frames that it refused for good; they are lost
  Duration time{0};                        ///< from the start to the last frame
  /// Delays from the time of each frame to when it was handed to the link; empty at top speed.
  runtime::LatencyHistogram lateness{};
  bool stopped = false;  ///< true if a signal stopped it

  [[nodiscard]] std::uint64_t all_frames() const { return frames[0] + frames[1]; }
  [[nodiscard]] std::uint64_t all_bytes() const { return bytes[0] + bytes[1]; }
  [[nodiscard]] std::uint64_t all_refused() const { return refused[0] + refused[1]; }
};

/// A link and the name of its interface.
struct SendLine {
  link::Link* link = nullptr;
  std::string interface;
};

/// Sends the frames of a feed when they are due, until there are no more or SIGINT or SIGTERM comes.
class SendLoop {
 public:
  /// Handles signals from now on. `lines` are by side. `progress`, if there is one, is called
  /// about once a second with the totals so far.
  SendLoop(std::vector<SendLine> lines, FrameFeed& feed, const Pace& pace,
           std::function<void(const SendTotals&)> progress);

  /// Sends; a frame that is due at once goes at `begin`. Failures: a link that is gone or whose interface went down;
  /// those of the feed. `totals` counts what was sent in any case, also before a failure.
  [[nodiscard]] Outcome<void> run(Time begin);
  [[nodiscard]] const SendTotals& totals() const { return totals_; }

 private:
  static constexpr std::size_t kBatch = 64;

  /// Frames that are due and not handed over yet.
  struct Batch {
    std::array<link::TxFrame, kBatch> frames{};
    std::array<Time, kBatch> due{};
    std::size_t size = 0;
  };
  struct Line {
    SendLine line;
    link::LinkCounters before;
    Batch batch;
  };

  [[nodiscard]] Outcome<void> send(FrameBlock& block, Time begin);
  [[nodiscard]] Outcome<void> flush();
  [[nodiscard]] Outcome<void> flush(Line& line);
  /// Waits until `due`, or a signal. Returns the time after the wait.
  [[nodiscard]] Time wait_until(Time due);
  [[nodiscard]] Outcome<void> look(Time now);
  [[nodiscard]] Outcome<void> finish();
  void count();

  std::vector<Line> lines_;
  FrameFeed& feed_;
  Pacing pacing_;
  bool is_timed_;
  std::function<void(const SendTotals&)> progress_;
  runtime::StopSignal signal_;
  SendTotals totals_;
  Time looked_at_{};
  Time told_at_{};
  Time begin_{};
  Time sent_at_{};
};

}  // namespace roce::replay
