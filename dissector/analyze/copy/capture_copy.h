// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/input/input_files.h"
#include "command_line/outcome.h"
#include "roce/link/capture_copier.h"

namespace roce::analyze {

/// The reason why a copy failed.
struct CopyFailure {
  ExitCode code{};
  std::string message;       ///< a sentence for people
  bool is_of_input = false;  ///< an input could not be read, or not to its end; the copy is as good as before
};

/// Writes frames of captures to a pcapng file: their bytes, times, flags, drop counts and first comments, and the
/// interfaces that they were captured on with their statistics.
class CaptureCopy {
 public:
  struct Selection {
    std::function<bool(std::uint64_t frame)> wants;          ///< chosen by the frame's number in its file
    std::function<std::string(std::uint64_t frame)> remark;  ///< text to append to the frame's comment; may be empty
  };

  /// Checks that `path` can be the output: it has a name of pcapng and is not one of `inputs`. The file is created with
  /// the first frame, or by `finish`.
  [[nodiscard]] static tl::expected<CaptureCopy, CopyFailure> make(const std::string& path,
                                                                   const std::vector<InputFile>& inputs);

  /// Copies from one file. A failure of the input leaves the copy usable: it has the frames that could be read.
  [[nodiscard]] tl::expected<void, CopyFailure> add(const std::string& input, const Selection& selection);
  /// Completes the file; creates it if nothing was copied.
  [[nodiscard]] tl::expected<void, CopyFailure> finish();

  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  /// Returns the number of frames with several comments, of which only the first could be kept.
  [[nodiscard]] std::uint64_t shortened() const { return shortened_; }

 private:
  explicit CaptureCopy(const std::string& path);

  link::CaptureCopier copier_;
  std::uint64_t frames_ = 0;
  std::uint64_t shortened_ = 0;
};

}  // namespace roce::analyze
