// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

namespace roce::text {

/// A line on standard error that shows how much of a long file has been read, redrawn in place.
class Progress {
 public:
  /// Shows nothing unless `enabled` and the file is at least 64 MiB long.
  Progress(bool enabled, const std::string& file, std::uint64_t size_bytes);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  [[nodiscard]] bool is_shown() const { return shown_; }
  /// Redraws the line when the percentage has changed.
  void update(std::uint64_t position_bytes, std::uint64_t packets);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  std::string file_;
  std::uint64_t size_;
  std::uint64_t percent_ = 101;
  bool shown_;
  bool drawn_ = false;
};

}  // namespace roce::text
