// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/run/target_program.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "command_line/number_text.h"

namespace roce::verbs {

namespace {

using command_line::quote;

[[nodiscard]] bool is_runnable(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

[[nodiscard]] Outcome<std::string> look_up(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_runnable(name)) return name;
    const int error = ::access(name.c_str(), F_OK) != 0 ? errno : EACCES;
    return cannot(fmt::format("cannot run {}: {}", quote(name), std::strerror(error)));
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders{path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"};
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_runnable(candidate)) return candidate;
  }
  return cannot(fmt::format("there is no program {} in any folder of PATH; install it, or give its path", quote(name)));
}

/// Reads one structure of a file; false beyond its end.
template <typename T>
[[nodiscard]] bool read_at(std::ifstream& file, std::uint64_t offset, T& out) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&out), sizeof out));
}

/// True for a program that no dynamic linker loads. Scripts, and what cannot be read, are left to the kernel.
[[nodiscard]] bool is_static(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!read_at(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, part)) return false;
    if (part.p_type == PT_INTERP) return false;
  }
  return true;
}

}  // namespace

Outcome<std::string> find_program(const std::string& name) {
  Outcome<std::string> path = look_up(name);
  if (!path) return path;
  struct stat about {};
  const bool is_privileged = ::stat(path->c_str(), &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)) != 0;
  if (is_privileged || ::getxattr(path->c_str(), "security.capability", nullptr, 0) > 0) {
    return cannot(fmt::format(
        "{} is set-uid, set-gid or has capabilities, and the dynamic linker takes no library from elsewhere "
        "for such a program; run a copy of it without them",
        *path));
  }
  if (is_static(*path)) {
    return cannot(fmt::format(
        "{} is linked statically, so that no library can be put in its way; build it with a shared libibverbs", *path));
  }
  return path;
}

}  // namespace roce::verbs
