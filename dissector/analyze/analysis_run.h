// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/capture_counts.h"
#include "analyze/decoded_packet.h"
#include "analyze/input_files.h"
#include "analyze/time_window.h"
#include "analyze/verdict_counts.h"
#include "roce/analysis/pause.h"
#include "roce/analysis/tracker.h"

namespace roce::analyze {

/// A RoCE, PFC or PAUSE packet with what is known when it is seen. Everything lives until the callback returns.
struct AnalysedPacket {
  const DecodedPacket& decoded;
  const analysis::Observation& observation;  ///< its `id` counts frames overall, from 1 in the first file
  const analysis::PacketAnalysis& analysis;
  const CaptureFile& file;
};

struct CarriedState;

/// Takes what an analysis finds, in the order in which it is known.
class AnalysisConsumer {
 public:
  AnalysisConsumer() = default;
  AnalysisConsumer(const AnalysisConsumer&) = delete;
  AnalysisConsumer& operator=(const AnalysisConsumer&) = delete;
  virtual ~AnalysisConsumer() = default;

  /// Comes first where the run goes on from another.
  virtual void go_on_from(const CarriedState& /*state*/) {}
  virtual void on_packet(const AnalysedPacket& /*packet*/) {}
  /// Immediate ones follow their packet; retrospective ones come some packets after they have become certain.
  virtual void on_verdict(const analysis::Verdict& /*verdict*/) {}
  virtual void on_message(const analysis::Message& /*message*/) {}
  virtual void on_answer(const analysis::Answer& /*answer*/) {}
  /// Without them (and thus without `on_packet`) a run may use several threads, and verdicts come in any order.
  [[nodiscard]] virtual bool wants_packets() const { return true; }
  /// Whether this stream, which has ended, is to be in `AnalysisResult::streams`.
  [[nodiscard]] virtual bool lists(std::uint32_t /*stream*/) const { return true; }
  /// Nobody wants more: the run ends early.
  [[nodiscard]] virtual bool is_over() const { return false; }
};

struct AnalysisRunOptions {
  TimeWindow window{};
  analysis::TrackerOptions tracker{};
  analysis::PauseOptions pause{};
  bool progress = false;          ///< show on standard error how far a long file is
  bool quiet = false;             ///< say nothing about the files on standard error: somebody did already
  std::uint64_t most_frames = 0;  ///< after so many in the window nothing more is read; 0: all are
  /// What an earlier run left: this one's files follow on it. None: it begins anew.
  const CarriedState* after = nullptr;
  /// Filled for a run that goes on with the next files. Then what is open at the end of the last file stays so, and is
  /// not judged yet.
  CarriedState* carry = nullptr;
  unsigned threads = 0;  ///< at most so many, where the consumer allows for more than one; 0: one a processor
};

/// What was read where `AnalysisRunOptions::most_frames` left a rest.
struct CaptureSample {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;     ///< as stored, up to where reading ended
  std::uint64_t of_bytes = 0;  ///< of all inputs; 0 unknown

  friend bool operator==(const CaptureSample&, const CaptureSample&) = default;
};

/// Everything that is known at the end; where the run went on from another, of both.
struct AnalysisResult {
  std::vector<CaptureFile> files;
  std::size_t earlier_files = 0;     ///< how many of them, from the first, are of runs before
  std::uint64_t files_left_out = 0;  ///< of runs before, in front of these
  CaptureCounts counts;
  std::vector<analysis::StreamSummary> streams;
  std::uint64_t streams_left_out = 0;  ///< that had ended in runs before
  /// Streams that ended when there were more than `analysis::Limits::streams`, and were the least bad of them.
  std::uint64_t streams_unlisted = 0;
  std::uint64_t streams_not_asked_for = 0;  ///< that the consumer does not list
  VerdictCounts verdicts;
  /// Streams that nobody asked for, and whose verdicts are not counted; none: everything was asked for.
  std::optional<std::uint64_t> streams_passed_over;
  analysis::Evictions evictions;
  std::optional<CaptureSample> sample;         ///< none: everything was read
  std::vector<analysis::PauseSummary> pauses;  ///< what stations asked for by PFC and PAUSE, by address
  std::uint64_t uncounted_pause_frames = 0;    ///< of stations that there was no room to remember

  /// Whether each file of this run was read to its end.
  [[nodiscard]] bool is_complete() const;
};

/// Reads captures one after the other as one, judges what is in them and hands it to `consumer`. What is wrong with a
/// file goes to standard error and into the result, and what was read of it counts. The result does not depend on how
/// many threads there were.
[[nodiscard]] AnalysisResult run_analysis(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                          AnalysisConsumer& consumer);

/// Where a frame that is numbered overall lies.
struct FramePlace {
  const CaptureFile* file = nullptr;  ///< null: in none of them
  std::uint64_t number = 0;           ///< in its file
};
[[nodiscard]] FramePlace find_frame(std::span<const CaptureFile> files, std::uint64_t overall);

/// The files that packets came from so far, for those who need `find_frame` before the end.
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

}  // namespace roce::analyze
