// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "roce/link/capture_record.h"

namespace roce::link {

/// A file that is written whole or not at all. Until `close` it is beside its place as `NAME.partial` (`NAME.1.partial`
/// and so on if that exists), and an older file stays as it is; links are followed, mode and owner are kept.
/// Targets that cannot be replaced are written directly: "-" (standard output),
/// pipes and devices, and targets of a descriptor of this process (/dev/stdout, /proc/self/fd/N).
/// Errors state what becomes of the file. One object belongs to one thread.
class OutputFile {
 public:
  [[nodiscard]] static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  /// Discards the file unless `close` was called.
  ~OutputFile();

  /// Hands all of it to the operating system. After an error every later call fails with that error, including `close`.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  /// Ends the file and moves it to its place; a second call does nothing.
  [[nodiscard]] Result<void> close();

  /// Removes the files of this process that are not closed. For handlers of signals that end the process:
  /// it may be called in a handler, and the process has to end directly after it.
  static void remove_unfinished() noexcept;

 private:
  struct Impl;
  explicit OutputFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::link
