// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

namespace roce::files {

/// A file that a command line names.
struct FileUse {
  std::string what;  ///< the option or the argument: "OUT", "--names"
  std::string path;  ///< empty: none; "-" is standard input or output
};

/// Why these files cannot go together: one that is written is one that is read, or is written twice, whatever its names
/// (links, /proc/self/fd, both ends of one pipe). A sentence that says what to do; none: they can. Devices count for
/// different: a terminal is read and written. That standard output, where reports go, is not read is looked at anyway.
[[nodiscard]] std::optional<std::string> find_conflict(std::span<const FileUse> read, std::span<const FileUse> written);

}  // namespace roce::files
