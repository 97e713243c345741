// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "analyze/analysis_run.h"
#include "analyze/progress.h"
#include "roce/link/capture_reader.h"

namespace roce::analyze {

/// Reads captures one after the other as one. What is wrong with a file goes to standard error and into the result, and
/// what could be read of it counts.
class CaptureIntake {
 public:
  /// Everything must outlive the intake; it adds the files and what it counts to `result`.
  CaptureIntake(std::span<const InputFile> inputs, const AnalysisRunOptions& options, AnalysisResult& result);

  /// Goes to the next frame that is in the time window. False: there is none, `stop` was called, or there were as many
  /// as the options allow.
  [[nodiscard]] bool next();
  /// Leaves the rest unread.
  void stop();

  // The frame under way; valid until `next` is called again.
  [[nodiscard]] const link::CaptureRecord& record() const { return record_; }
  /// The reader of the file that the frame under way comes from.
  [[nodiscard]] const link::CaptureReader& reader() const { return *reader_; }
  [[nodiscard]] std::size_t file_index() const { return result_.files.size() - 1; }
  [[nodiscard]] CaptureFile& file() { return result_.files.back(); }
  [[nodiscard]] std::uint64_t number() const { return result_.files.back().frame_base + record_.number; }  ///< overall
  [[nodiscard]] std::optional<std::int64_t> time_ns() const { return time_ns_; }
  /// Its time; without one, that of the frame before.
  [[nodiscard]] Time time() const { return Time{Duration{last_ns_}}; }
  [[nodiscard]] std::int64_t relative_ns() const { return time_ns_ ? *time_ns_ - *start_ns_ : 0; }

  /// The files follow on those of an earlier run. Comes first.
  void go_on_from(const CarriedState& state);
  void carry_into(CarriedState& state) const;

  /// Everything that was read was looked at: says of which frames it could not be.
  void finish();

 private:
  static constexpr std::uint64_t kProgressFrames = 1U << 16U;

  [[nodiscard]] bool open_next();
  void stop_at_limit();
  [[nodiscard]] bool admit();
  void close();
  void fail(const std::string& message);
  void say(std::string_view text) const;

  std::span<const InputFile> inputs_;
  const AnalysisRunOptions& options_;
  AnalysisResult& result_;
  std::size_t opened_ = 0;
  std::unique_ptr<link::CaptureReader> reader_;
  std::optional<Progress> progress_;
  link::CaptureRecord record_;
  std::optional<std::int64_t> time_ns_;
  std::optional<std::int64_t> start_ns_;
  std::int64_t last_ns_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t bytes_ = 0;     ///< of the files that were read to their end
  std::uint64_t admitted_ = 0;  ///< frames in the window
};

}  // namespace roce::analyze
