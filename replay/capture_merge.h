// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay/failure.h"
#include "roce/link/capture_file.h"

namespace roce::replay {

/// Reads several captures as one, in the order of their times; frames of equal times, and those without, in the order
/// in which the files were named. Within a file the order is that of the file.
class CaptureMerge {
 public:
  /// Failures: no files; one that cannot be opened.
  [[nodiscard]] static Outcome<CaptureMerge> open(const std::vector<std::string>& paths);

  /// The next frame, valid until the next call; null at the end. Failures: damage, what is no Ethernet.
  [[nodiscard]] Outcome<const link::CaptureRecord*> next();
  /// The file that the last frame is of.
  [[nodiscard]] const std::string& file() const { return inputs_[last_].path; }

  /// Of all files, in bytes as they are stored; 0 unknown.
  [[nodiscard]] std::uint64_t size_bytes() const;
  [[nodiscard]] std::uint64_t position_bytes() const;
  /// What was odd about the files so far, complete sentences.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct Input {
    std::string path;
    link::CaptureReader reader;
    link::CaptureRecord record{};
    std::int64_t time = 0;  ///< of the record, or the one before it that has one
    bool is_read = false;   ///< `record` holds the next frame
    bool is_over = false;
  };

  CaptureMerge() = default;
  [[nodiscard]] Outcome<void> fill(Input& input);

  std::vector<Input> inputs_;
  std::size_t last_ = 0;
};

}  // namespace roce::replay
