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

/// Returns why these files cannot go together: one that is written is also read, or is written twice, whatever its
/// names (links, /proc/self/fd, both ends of one pipe). The result says what to do; none if they can. Devices count as
/// different files: a terminal is read and written. Standard output, where reports go, must not be one that is read.
[[nodiscard]] std::optional<std::string> find_conflict(std::span<const FileUse> read, std::span<const FileUse> written);

}  // namespace roce::files
