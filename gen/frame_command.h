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
#include "gen/endpoint_options.h"
#include "gen/failure.h"
#include "gen/frame_sender.h"
#include "gen/frame_source.h"
#include "gen/metrics_options.h"
#include "roce/link/link.h"
#include "roce/port/interface_traffic.h"
#include "roce/port/interfaces.h"

namespace roce::gen {

/// What the commands that send frames of their own making can be told.
struct FrameOptions {
  std::string interface;
  LinkChoice link = LinkChoice::raw;  ///< or xdp
  std::string to;                     ///< the IP address of the peer
  std::string file;                   ///< capture file to write instead of sending
  bool dry_run = false;
  std::optional<std::uint64_t> count{};  ///< 0: no limit
  double seconds = 0;                    ///< 0: no limit
  std::string rate;
  std::uint64_t burst = 1;
  std::string duty;
  std::uint64_t seed = 1;
  bool segmentation = false;  ///< frames leave as super-frames where the kernel takes them
  bool json = false;
  MetricsOptions metrics;
};

/// Adds the options that all of these commands have.
void add_frame_options(command_line::Command& command, FrameOptions& options);

/// `10ms/90ms` as two durations, neither of them 0. Failure: what was expected.
[[nodiscard]] Outcome<std::pair<Duration, Duration>> parse_duty(const std::string& text);

/// Where frames go: an interface, a capture file or the screen.
class FrameTarget {
 public:
  /// Opens what the options name. Failures: none or several of them; what is wrong with the interface.
  [[nodiscard]] static Outcome<FrameTarget> open(const FrameOptions& options);

  /// The interface that frames go to, or whose addresses they have.
  [[nodiscard]] const std::optional<port::Interface>& interface() const { return interface_; }
  /// What sends; null where nothing is sent.
  [[nodiscard]] link::Link* link() { return link_.get(); }
  /// What that is, in words.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  [[nodiscard]] Outcome<void> open_link(const FrameOptions& options);

  std::optional<port::Interface> interface_;
  std::unique_ptr<link::Link> link_;
  std::string description_;
};

/// Packets, and when they go. `schedule_of` makes what the options say of it.
struct FrameJob {
  std::vector<VaryingPacket> packets;
  std::vector<VaryingPacket> closing{};  ///< go behind them, and before each pause
  SendSchedule::Options schedule{};
  std::uint64_t count = 0;  ///< 0: no limit
  Duration duration{0};     ///< 0: no limit
};

/// The schedule, count and duration of the options; a job without any ends after a round of its packets. Failures: a
/// rate, a duty cycle or a burst that makes no sense.
[[nodiscard]] Outcome<void> read_schedule(const FrameOptions& options, FrameJob& job);

struct FrameResult {
  SendTotals totals;
  /// What the interface counted meanwhile, of others too; none where nothing was sent or it does not tell.
  std::optional<port::InterfaceTraffic> counted{};
  std::optional<Failure> failure{};  ///< why it ended before its time
};

/// Does a job: sends, writes or prints. Failures, before anything is sent: packets that make no frames, or do not fit
/// the interface; a file without an end.
[[nodiscard]] Outcome<FrameResult> run_frames(FrameTarget& target, const FrameOptions& options, const FrameJob& job);

/// Says what went out: `{"event": EVENT, …}` with `facts` behind, or lines for people, `lines` among them. A dry run
/// says nothing more.
void print_frames(const std::string& event, const FrameOptions& options, const FrameResult& result,
                  const nlohmann::ordered_json& facts, const std::vector<std::string>& lines);
/// The exit code of a result that was reported, or why it failed.
[[nodiscard]] Outcome<ExitCode> ended(const FrameOptions& options, const FrameResult& result);

}  // namespace roce::gen
