// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

/// One capture to read.
struct InputFile {
  std::string path;                      ///< as `link::CaptureReader::open` takes it, "-" for standard input
  bool is_regular = false;               ///< it can be opened again, and what was read is still there
  std::uint64_t size_bytes = 0;          ///< as stored; for a regular file
  std::optional<std::int64_t> first_ns;  ///< time of the first packet; only if it was looked up
  std::string point;                     ///< name that the user gave its capture point; empty if none

  friend bool operator==(const InputFile&, const InputFile&) = default;
};

/// The files that the arguments of a command line stand for.
struct InputFiles {
  std::vector<InputFile> files;
  std::vector<std::string> warnings;  ///< files that were left out, and why that is not a failure
  std::vector<std::string> errors;    ///< files that were asked for and cannot be read; the others still can
};

/// Files and directories that the user declared to be one capture point.
struct NamedPoint {
  std::string name;
  std::vector<std::string> arguments;
};

struct InputOptions {
  bool sort_by_time = false;  ///< sort all files by the time of their first packet, however they were given
};

/// Expands FILE and DIRECTORY arguments, in their order.
/// - A directory stands for its capture files (by content, whatever their names; without subdirectories) in the order
///   of their first packets, so that the pieces of a ring buffer are read as they were written. Everything else in it
///   is named in one warning.
/// - "-" is standard input. Standard input and pipes are not touched, and come after all others when sorting.
/// - A file given twice, under any names, is read once, at its first place; a warning reports it. An error does if the
///   two places belong to different points.
/// The files of `points` follow those of `arguments`.
[[nodiscard]] InputFiles expand_inputs(std::span<const std::string> arguments, const InputOptions& options = {},
                                       std::span<const NamedPoint> points = {});

/// Parses `NAME=FILE[,FILE…]`, in which a FILE is also a directory or a pattern with `*`, `?` and `[…]`.
/// Error: what is wrong with it, and what was expected.
[[nodiscard]] tl::expected<NamedPoint, std::string> parse_point(std::string_view text);

/// Returns a regular file that is a capture, with the time of its first packet; nothing if it is none or cannot be
/// read.
[[nodiscard]] std::optional<InputFile> look_into(const std::string& path, std::uint64_t size_bytes);
/// Orders files by their first time, then by name. Files without a time come last.
[[nodiscard]] bool comes_before(const InputFile& a, const InputFile& b);

}  // namespace roce::analyze
