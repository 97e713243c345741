// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/exit_code.h"
#include "analyze/input_files.h"
#include "roce/link/capture_copier.h"

namespace roce::analyze {

/// Why a copy did not come about.
struct CopyFailure {
  ExitCode code{};
  std::string message;  ///< a sentence for people
};

/// Writes frames of captures to a pcapng file: their bytes, times, flags, drop counts and first comments, and the
/// interfaces that they were captured on with their statistics.
class CaptureCopy {
 public:
  struct Selection {
    std::function<bool(std::uint64_t frame)> wants;          ///< by number in its file
    std::function<std::string(std::uint64_t frame)> remark;  ///< what to add to its comment; may be empty
  };

  /// Checks that `path` can be the output: pcapng by its name, and none of `inputs`. Nothing is created before the
  /// first frame or the end.
  [[nodiscard]] static tl::expected<CaptureCopy, CopyFailure> make(const std::string& path,
                                                                   const std::vector<InputFile>& inputs);

  /// Copies from one file. A failure whose code is `input` leaves the copy usable: what was read is in it.
  [[nodiscard]] tl::expected<void, CopyFailure> add(const std::string& input, const Selection& selection);
  /// Ends the file, which is created now if nothing was copied.
  [[nodiscard]] tl::expected<void, CopyFailure> finish();

  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  /// Frames of which only the first of several comments could be kept.
  [[nodiscard]] std::uint64_t shortened() const { return shortened_; }

 private:
  explicit CaptureCopy(const std::string& path);

  link::CaptureCopier copier_;
  std::uint64_t frames_ = 0;
  std::uint64_t shortened_ = 0;
};

}  // namespace roce::analyze
