// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/link/capture_file.h"

namespace roce::capture {

/// Reads several captures as one, ordered by time; a frame without a time counts as of the time before it in its file.
/// At equal times the file that was named first comes first. Within a file the order is that of the file.
class CaptureMerge {
 public:
  /// Opens the files. Failures: no files; a file that cannot be opened.
  [[nodiscard]] static Outcome<CaptureMerge> open(const std::vector<std::string>& paths);

  /// Returns the next frame, valid until the next call; null at the end. Failures: damage; a frame other than Ethernet.
  [[nodiscard]] Outcome<const link::CaptureRecord*> next();
  /// Returns the path of the file that the last frame came from.
  [[nodiscard]] const std::string& file() const { return inputs_[last_].path; }

  /// Return the stored size of all files in bytes (0: unknown), and how many of these have been read so far.
  [[nodiscard]] std::uint64_t size_bytes() const;
  [[nodiscard]] std::uint64_t position_bytes() const;
  /// Returns warnings about the files so far, as complete sentences.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct Input {
    std::string path;
    link::CaptureReader reader;
    link::CaptureRecord record{};
    std::int64_t time = 0;  ///< time of the record, or of the last one before it that has a time
    bool is_read = false;   ///< `record` holds the next frame
    bool is_over = false;
  };

  CaptureMerge() = default;
  [[nodiscard]] Outcome<void> fill(Input& input);

  std::vector<Input> inputs_;
  std::size_t last_ = 0;
};

}  // namespace roce::capture
