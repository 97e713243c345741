// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/command.h"
#include "command_line/outcome.h"
#include "gen/frames/frame_sender.h"
#include "gen/frames/frame_source.h"
#include "metrics/metrics_options.h"
#include "roce/link/link.h"
#include "roce/live/endpoint_options.h"
#include "roce/port/interface_traffic.h"
#include "roce/port/interfaces.h"

namespace roce::gen {

/// The options of the commands that send frames of their own making.
struct FrameOptions {
  std::string interface;
  live::LinkChoice link = live::LinkChoice::raw;  ///< raw or xdp
  std::string to;                                 ///< the IP address of the peer
  std::string file;                               ///< capture file to write instead of sending
  bool dry_run = false;
  std::optional<std::uint64_t> count{};  ///< 0: no limit
  double seconds = 0;                    ///< 0: no limit
  std::string rate;
  std::uint64_t burst = 1;
  std::string duty;
  std::uint64_t seed = 1;
  bool segmentation = false;  ///< frames leave as super-frames where the kernel takes them
  bool json = false;
  metrics::MetricsOptions metrics;
};

/// Adds the options that all of these commands have.
void add_frame_options(command_line::Command& command, FrameOptions& options);

/// Parses `10ms/90ms` into two durations, neither of them 0. Failure: any other text.
[[nodiscard]] Outcome<std::pair<Duration, Duration>> parse_duty(const std::string& text);

/// The destination of frames: an interface, a capture file or the screen.
class FrameTarget {
 public:
  /// Opens the destination that the options name. Failures: none or several of them; a problem with the interface.
  [[nodiscard]] static Outcome<FrameTarget> open(const FrameOptions& options);

  /// Returns the interface that frames go to or take their addresses from; empty if there is none.
  [[nodiscard]] const std::optional<port::Interface>& interface() const { return interface_; }
  /// Returns the link that sends; null if nothing is sent.
  [[nodiscard]] link::Link* link() { return link_.get(); }
  /// Returns a description of the link, in words.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  [[nodiscard]] Outcome<void> open_link(const FrameOptions& options);

  std::optional<port::Interface> interface_;
  std::unique_ptr<link::Link> link_;
  std::string description_;
};

/// Packets, and when they are sent. `read_schedule` fills in what the options determine.
struct FrameJob {
  std::vector<VaryingPacket> packets;
  std::vector<VaryingPacket> closing{};  ///< sent after all of `packets`, and before each pause
  SendSchedule::Options schedule{};
  std::uint64_t count = 0;  ///< 0: no limit
  Duration duration{0};     ///< 0: no limit
};

/// Reads schedule, count and duration from the options; a job with neither of the last two ends after a round of its
/// packets. Failures: an invalid rate or duty cycle, or a burst without a rate.
[[nodiscard]] Outcome<void> read_schedule(const FrameOptions& options, FrameJob& job);

struct FrameResult {
  SendTotals totals;
  /// Counts of the interface meanwhile, other traffic included; empty if nothing was sent or it has no counters.
  std::optional<port::InterfaceTraffic> counted{};
  std::optional<Failure> failure{};  ///< why the job ended early, or could not write its metrics
};

/// Does a job: sends, writes or prints its frames. Failures, before anything is sent: packets that cannot be built or
/// do not fit the interface; a file or a dry run without an end.
[[nodiscard]] Outcome<FrameResult> run_frames(FrameTarget& target, const FrameOptions& options, const FrameJob& job);

/// Prints what was sent: `{"event": EVENT, …}` with `facts` at the end, or lines for people, which include `lines`.
/// Prints nothing after a dry run.
void print_frames(const std::string& event, const FrameOptions& options, const FrameResult& result,
                  const nlohmann::ordered_json& facts, const std::vector<std::string>& lines);
/// Returns the exit code of a result that has been printed, or why it failed.
[[nodiscard]] Outcome<ExitCode> ended(const FrameOptions& options, const FrameResult& result);

}  // namespace roce::gen
