// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/input/capture_counts.h"
#include "analyze/input/capture_points.h"
#include "analyze/input/input_files.h"
#include "analyze/input/time_window.h"
#include "analyze/run/verdict_counts.h"
#include "packet_text/decoded_packet.h"
#include "roce/analysis/pause.h"
#include "roce/analysis/reachability.h"
#include "roce/analysis/tracker.h"

namespace roce::analyze {

/// A RoCE, PFC or PAUSE packet and what is known when it is seen. All references are valid until the callback returns.
struct AnalysedPacket {
  const packet_text::DecodedPacket& decoded;
  const analysis::Observation& observation;  ///< its `id` counts frames across all files, from 1 in the first one
  const analysis::PacketAnalysis& analysis;
  const CaptureFile& file;
  const CapturePoint& point;
  std::optional<std::int64_t> start_ns;  ///< earliest time of the frames so far in the time window
};

struct CarriedState;
struct AnalysisResult;
class AnalysisConsumer;
class Following;
struct WorkShare;

/// A run that is not over.
class RunSoFar {
 public:
  RunSoFar() = default;
  RunSoFar(const RunSoFar&) = delete;
  RunSoFar& operator=(const RunSoFar&) = delete;
  virtual ~RunSoFar() = default;
  /// Returns the result that the run would have if its input ended here, and passes to `end` the findings that only
  /// this end would bring. The run goes on as if nobody had asked.
  [[nodiscard]] virtual AnalysisResult result(AnalysisConsumer& end) = 0;
};

/// The streams and files of a run whose packets other processes followed, as known before its findings are passed on.
struct GatheredRun {
  const AnalysisResult& result;
  std::optional<std::int64_t> start_ns;                 ///< time of the very first frame
  std::span<const analysis::StreamSummary> known_ends;  ///< all streams, each with its number, `ends` and `qpns` alone
};

/// Receives the findings of an analysis, in the order in which they become known.
class AnalysisConsumer {
 public:
  AnalysisConsumer() = default;
  AnalysisConsumer(const AnalysisConsumer&) = delete;
  AnalysisConsumer& operator=(const AnalysisConsumer&) = delete;
  virtual ~AnalysisConsumer() = default;

  /// Called before everything else if the run continues an earlier one.
  virtual void go_on_from(const CarriedState& /*state*/) {}
  /// Called before everything else if other processes followed the packets: `on_packet` will not be called.
  virtual void on_gathered(const GatheredRun& /*run*/) {}
  virtual void on_packet(const AnalysedPacket& /*packet*/) {}
  /// Immediate verdicts follow their packet; retrospective ones come some packets after they have become certain.
  virtual void on_verdict(const analysis::Verdict& /*verdict*/) {}
  virtual void on_message(const analysis::Message& /*message*/) {}
  virtual void on_answer(const analysis::Answer& /*answer*/) {}
  /// Called now and then in a run that follows its input, after the findings of all packets so far that are certain.
  virtual void on_tick(RunSoFar& /*run*/) {}
  /// True if `on_packet` is to be called. If not, a run may use several threads, and verdicts come in any order.
  [[nodiscard]] virtual bool wants_packets() const { return true; }
  /// True if this stream, which has ended, is to be in `AnalysisResult::streams`.
  [[nodiscard]] virtual bool lists(std::uint32_t /*stream*/) const { return true; }
  /// True if the consumer wants nothing more: the run ends early.
  [[nodiscard]] virtual bool is_over() const { return false; }
};

struct AnalysisRunOptions {
  TimeWindow window{};
  analysis::TrackerOptions tracker{};
  analysis::PauseOptions pause{};
  bool progress = false;          ///< show on standard error how much of a long file has been read
  bool quiet = false;             ///< report nothing about the files on standard error: an earlier pass already has
  std::uint64_t most_frames = 0;  ///< reading stops after this many frames in the window; 0: no limit
  /// The state left by an earlier run, which this run's files follow. Null: the run starts from scratch.
  const CarriedState* after = nullptr;
  /// Filled for a run that continues with the next files; null: nothing is carried on. If set, questions still open at
  /// the end of the last file stay open and are not judged yet.
  CarriedState* carry = nullptr;
  /// The input, instead of files, if it goes on while it is read; then one thread does the work. Null: files.
  Following* follow = nullptr;
  /// The packets to follow and the frames to count, of a run that several processes share. Null: all.
  const WorkShare* share = nullptr;
  unsigned threads = 0;  ///< maximum, if the consumer allows more than one thread; 0: one per processor
};

/// How much was read when `AnalysisRunOptions::most_frames` ended the reading before the end of the input.
struct CaptureSample {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;     ///< as stored, up to where reading ended
  std::uint64_t of_bytes = 0;  ///< size of all inputs; 0: unknown

  friend bool operator==(const CaptureSample&, const CaptureSample&) = default;
};

/// Everything that is known at the end; for a run that continues an earlier one, the results of both together.
struct AnalysisResult {
  std::vector<CaptureFile> files;
  std::size_t earlier_files = 0;     ///< number of `files`, counted from the first, that belong to earlier runs
  std::uint64_t files_left_out = 0;  ///< files of earlier runs, before those in `files`, that were not kept
  std::vector<CapturePoint> points;  ///< by number
  bool has_bad_clock = false;        ///< the clock of a point went back by a second or more
  CaptureCounts counts;
  std::vector<analysis::StreamSummary> streams;
  std::uint32_t streams_begun = 0;         ///< streams have the numbers before this one
  std::vector<analysis::PacketId> begins;  ///< `analysis::TrackerShards::begins`
  std::optional<std::int64_t> start_ns;    ///< time of the very first frame
  std::uint64_t streams_left_out = 0;      ///< streams that ended in earlier runs and were not kept
  /// Ended streams that are not in `streams` because more than `analysis::Limits::streams` ended: the least bad ones.
  std::uint64_t streams_unlisted = 0;
  std::uint64_t streams_not_asked_for = 0;  ///< ended streams that the consumer does not list
  VerdictCounts verdicts;
  std::vector<VerdictTotals> point_verdicts;  ///< those of each point, by its number; perhaps of the first ones only
  /// Streams that were not asked for, whose verdicts are not counted; not set: everything was asked for.
  std::optional<std::uint64_t> streams_passed_over;
  analysis::Evictions evictions;
  std::optional<CaptureSample> sample;                  ///< not set: everything was read
  std::vector<analysis::PauseSummary> pauses;           ///< PFC and PAUSE requests of the stations, by address
  std::uint64_t uncounted_pause_frames = 0;             ///< from stations for which there was no room
  std::vector<analysis::NeighbourSummary> neighbours;   ///< ARP and neighbour discovery in the files of this run
  std::vector<analysis::IcmpErrorSummary> undelivered;  ///< ICMP errors about RoCE packets in these files
  std::uint64_t uncounted_notices = 0;                  ///< such messages for which there was no room

  /// True if each file of this run was read to its end.
  [[nodiscard]] bool is_complete() const;
  /// True if the times of the input contradict each other, so that verdicts may be wrong; standard error has told it.
  [[nodiscard]] bool has_contradictory_times() const;
  /// True if several capture points saw packets between the same two hosts, perhaps the same packets.
  [[nodiscard]] bool has_hosts_at_several_points() const;
};

/// Reads captures one after the other as if they were one, analyses them and passes the findings to `consumer`. Errors
/// in a file go to standard error and into the result; the part of it that could be read counts. The result does not
/// depend on the number of threads.
[[nodiscard]] AnalysisResult run_analysis(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                          AnalysisConsumer& consumer);

/// The file that holds a frame, and the frame's number in that file.
struct FramePlace {
  const CaptureFile* file = nullptr;  ///< null: no file has the frame
  std::uint64_t number = 0;           ///< within `file`, from 1
};
[[nodiscard]] FramePlace find_frame(std::span<const CaptureFile> files, std::uint64_t overall);

/// The files from which packets have come so far, for callers that need `find_frame` before the end.
class SeenFiles {
 public:
  SeenFiles() = default;
  explicit SeenFiles(std::vector<CaptureFile> files) : files_(std::move(files)) {}

  void learn(const CaptureFile& file) {
    if (files_.empty() || files_.back().frame_base != file.frame_base) files_.push_back(file);
  }
  [[nodiscard]] FramePlace find(std::uint64_t overall) const { return find_frame(files_, overall); }
  [[nodiscard]] std::size_t size() const { return files_.size(); }

 private:
  std::vector<CaptureFile> files_;
};

/// Names of the capture points from which packets have come so far, for callers that need them before the end.
class SeenPoints {
 public:
  SeenPoints() = default;
  explicit SeenPoints(const std::vector<CapturePoint>& points) {
    for (const CapturePoint& point : points) names_.push_back(point.name);
  }

  void learn(const AnalysedPacket& packet) {
    const std::size_t number = packet.observation.point;
    if (number >= names_.size()) names_.resize(number + 1);
    if (names_[number].empty()) names_[number] = packet.point.name;
  }
  [[nodiscard]] std::string_view name(std::uint16_t number) const {
    return number < names_.size() ? std::string_view{names_[number]} : std::string_view{};
  }
  /// Returns the name if it tells something: if there are several points; otherwise nothing.
  [[nodiscard]] std::string_view distinctive_name(std::uint16_t number) const {
    return names_.size() > 1 ? name(number) : std::string_view{};
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace roce::analyze
