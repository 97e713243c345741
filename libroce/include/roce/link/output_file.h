// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "roce/link/capture_record.h"

namespace roce::link {

/// A file that is written whole or not at all. Until `close` it stands beside its place as `NAME.partial`
/// (`NAME.1.partial` and so on where that exists), and what was there before stays as it is; links are followed, mode
/// and owner are kept. What has no such place is written at once: "-" (standard output), pipes and devices, and what a
/// descriptor of this process leads to (/dev/stdout, /proc/self/fd/N). Errors say what becomes of the file. One object
/// belongs to one thread.
class OutputFile {
 public:
  [[nodiscard]] static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  /// Without `close` there is no file.
  ~OutputFile();

  /// Hands all of it to the operating system. After an error every later call fails with it, `close` too.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  /// Ends the file and puts it in its place; again it does nothing.
  [[nodiscard]] Result<void> close();

  /// Removes the files of this process that are not closed. For handlers of signals that end the process: it may be
  /// called there, and nothing but the end may follow.
  static void remove_unfinished() noexcept;

 private:
  struct Impl;
  explicit OutputFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::link
