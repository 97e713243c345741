// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roce::analyze {

/// One capture to read.
struct InputFile {
  std::string path;                      ///< as `link::CaptureReader::open` takes it, "-" for standard input
  bool is_regular = false;               ///< it can be opened again, and what was read is still there
  std::uint64_t size_bytes = 0;          ///< as stored; for a regular file
  std::optional<std::int64_t> first_ns;  ///< time of the first packet; only if it was looked up

  friend bool operator==(const InputFile&, const InputFile&) = default;
};

/// The files that the arguments of a command line stand for.
struct InputFiles {
  std::vector<InputFile> files;
  std::vector<std::string> warnings;  ///< files that were left out, and why that is not a failure
  std::vector<std::string> errors;    ///< files that were asked for and cannot be read; the others still can
};

struct InputOptions {
  bool sort_by_time = false;  ///< sort all files by the time of their first packet, however they were given
};

/// Expands FILE and DIRECTORY arguments, in their order.
/// - A directory stands for its capture files (by content, whatever their names; without subdirectories) in the order
///   of their first packets, so that the pieces of a ring buffer are read as they were written. Everything else in it
///   is named in one warning.
/// - "-" is standard input. Standard input and pipes are not touched, and come after all others when sorting.
/// - A file given twice, under any names, is read once, at its first place; a warning reports it.
[[nodiscard]] InputFiles expand_inputs(std::span<const std::string> arguments, const InputOptions& options = {});

}  // namespace roce::analyze
