// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "roce/link/capture_record.h"

namespace roce::link::detail {

/// Describes how much of a file was read before reading failed.
inline std::string packets_before(std::uint64_t count) {
  return count == 1 ? "the packet before it was read" : "the " + std::to_string(count) + " packets before it were read";
}

/// Collects the problems found while one file is read; messages begin with the file's name and, if known, the offset.
class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void warn(std::uint64_t offset, const std::string& text) {
    if (warnings_.size() > kMaxWarnings) return;
    const bool full = warnings_.size() == kMaxWarnings;
    warnings_.push_back({offset, located(offset, full ? "more warnings from here on, not listed" : text)});
  }
  void fail(std::uint64_t offset, const std::string& text) {
    if (!error_) error_ = CaptureError{located(offset, text), offset};
  }
  void fail(const std::string& text) {
    if (!error_) error_ = CaptureError{file_ + ": " + text, std::nullopt};
  }

  /// Takes back an error that was none: a record that its writer had not finished.
  void forget_error() { error_.reset(); }

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<CaptureWarning>& warnings() const { return warnings_; }
  [[nodiscard]] const std::optional<CaptureError>& error() const { return error_; }

 private:
  static constexpr std::size_t kMaxWarnings = 100;

  [[nodiscard]] std::string located(std::uint64_t offset, const std::string& text) const {
    return file_ + ": byte " + std::to_string(offset) + ": " + text;
  }

  std::string file_;
  std::vector<CaptureWarning> warnings_;
  std::optional<CaptureError> error_;
};

}  // namespace roce::link::detail
