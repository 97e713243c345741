// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "analyze/input/capture_points.h"
#include "analyze/run/analysis_run.h"
#include "roce/link/capture_reader.h"
#include "text/progress.h"

namespace roce::analyze {

/// Reads captures one after the other as if they were one. Problems of a file go to standard error and into the result;
/// the part of it that could be read counts.
class CaptureIntake {
 public:
  /// All arguments must outlive the intake. It adds the files and their counts to `result`.
  CaptureIntake(std::span<const InputFile> inputs, const AnalysisRunOptions& options, AnalysisResult& result);

  /// Goes to the next frame in the time window. Returns false at the end of the input, after `stop`, and if the number
  /// of frames that the options allow has been reached.
  [[nodiscard]] bool next();
  /// Leaves the rest of the input unread.
  void stop();

  // The current frame; valid until the next call of `next`.
  [[nodiscard]] const link::CaptureRecord& record() const { return record_; }
  /// Returns the reader of the file that the current frame comes from.
  [[nodiscard]] const link::CaptureReader& reader() const { return *reader_; }
  [[nodiscard]] std::size_t file_index() const { return result_.files.size() - 1; }
  [[nodiscard]] CaptureFile& file() { return result_.files.back(); }
  [[nodiscard]] std::uint64_t number() const { return result_.files.back().frame_base + record_.number; }  ///< overall
  [[nodiscard]] std::optional<std::int64_t> time_ns() const { return time_ns_; }
  /// Returns the time of the current frame; if it has none, that of the frame before.
  [[nodiscard]] Time time() const { return Time{Duration{last_ns_}}; }
  [[nodiscard]] std::uint16_t point() const { return point_; }  ///< number of its capture point
  [[nodiscard]] const CapturePoint& capture_point() const { return points_.points()[point_]; }
  [[nodiscard]] std::int64_t relative_ns() const { return time_ns_ ? *time_ns_ - *start_ns_ : 0; }

  /// Continues after the files of an earlier run. Must be called first.
  void go_on_from(const CarriedState& state);
  /// Describes everything up to the current frame.
  void carry_into(CarriedState& state);

  /// Reports how many frames could not be decoded for their link type. Call it when all frames have been analysed.
  void finish();

 private:
  static constexpr std::uint64_t kProgressFrames = 1U << 16U;
  /// Queues of one clock are never this far apart.
  static constexpr std::int64_t kClockJump = 1'000'000'000;

  [[nodiscard]] const InputFile* next_input();
  [[nodiscard]] bool open_next();
  void stop_at_limit();
  [[nodiscard]] bool admit();
  void close();
  void count_drops();
  void fail(const std::string& message);
  void say(std::string_view text) const;

  std::span<const InputFile> inputs_;
  const AnalysisRunOptions& options_;
  AnalysisResult& result_;
  std::size_t opened_ = 0;
  InputFile followed_;  ///< the current input, if the options follow one
  std::unique_ptr<link::CaptureReader> reader_;
  std::optional<text::Progress> progress_;
  link::CaptureRecord record_;
  CapturePoints points_;
  std::uint16_t point_ = 0;
  std::optional<std::int64_t> time_ns_;
  std::optional<std::int64_t> start_ns_;
  std::int64_t last_ns_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t bytes_ = 0;     ///< size of the files that were read to their end
  std::uint64_t admitted_ = 0;  ///< frames in the window
};

}  // namespace roce::analyze
