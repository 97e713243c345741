// SPDX-License-Identifier: BSD-2-Clause
#include "files/file_use.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

namespace roce::files {

namespace {

/// The identity that two names of one file share. A file that does not exist yet has its folder and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

std::optional<Identity> identity_of(const std::string& path, int standard_stream) {
  if (path.empty()) return std::nullopt;
  struct stat status {};
  if (path == "-") {
    if (::fstat(standard_stream, &status) != 0) return std::nullopt;
  } else if (::stat(path.c_str(), &status) != 0) {
    const std::filesystem::path name{path};
    const std::string folder = name.has_parent_path() ? name.parent_path().string() : ".";
    if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
    return Identity{status.st_dev, status.st_ino, name.filename().string()};
  }
  const bool is_content = S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISBLK(status.st_mode);
  if (!is_content) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, ""};
}

std::string name_of(const FileUse& use, const char* standard_stream) {
  return use.path == "-" ? standard_stream : "'" + use.path + "'";
}

/// Returns the reason why `out` cannot be written beside these files; none if it can.
std::optional<std::string> find_conflict(const FileUse& out, std::span<const FileUse> read,
                                         std::span<const FileUse> written) {
  const std::optional<Identity> identity = identity_of(out.path, STDOUT_FILENO);
  if (!identity) return std::nullopt;
  const std::string cannot =
      "cannot write " + name_of(out, "to standard output") + " (" + out.what + "): it is the file that ";
  for (const FileUse& in : read) {
    if (identity_of(in.path, STDIN_FILENO) != identity) continue;
    return cannot + "is read" + (in.path == out.path ? "" : " as " + name_of(in, "standard input")) + " (" + in.what +
           "); choose another name";
  }
  for (const FileUse& other : written) {
    if (identity_of(other.path, STDOUT_FILENO) != identity) continue;
    return cannot + other.what + " writes too; choose another name";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_conflict(std::span<const FileUse> read, std::span<const FileUse> written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (auto conflict = find_conflict(written[i], read, written.first(i))) return conflict;
  }
  return find_conflict({"the report", "-"}, read, {});
}

}  // namespace roce::files
