// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/own_cases.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace roce::conform {

Outcome<std::string> find_own_cases() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return cannot(fmt::format("no CASES given, and /proc/self/exe cannot be read: {}", error.message()));
  const fs::path place = (program.parent_path() / ROCE_CONFORM_CASES).lexically_normal();
  // A build folder has a link to the cases of the source, whose place is the one that messages should name.
  fs::path folder = fs::canonical(place, error);
  if (error || !fs::is_directory(folder, error)) {
    return cannot(fmt::format("no CASES given, and there are none in {}", place.string()));
  }
  return folder.string();
}

}  // namespace roce::conform
