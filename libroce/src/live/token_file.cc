// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/token_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace roce::live {

namespace {

/// The longest secret, so that the hello with it fits into the first line of a client.
constexpr std::size_t kLongestToken = 1024;

}  // namespace

Result<std::string> read_token(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return cannot(fmt::format("cannot read the token file {}: {}", path, std::strerror(errno)));
  }
  if ((status.st_mode & 0077) != 0) {
    return cannot(fmt::format("others may read the token file {0}; chmod 600 {0}", path));
  }
  std::ifstream file{path};
  std::string token;
  std::getline(file, token);
  if (token.size() > kLongestToken) {
    return cannot(fmt::format("the first line of the token file {} has {} bytes; a secret has at most {}", path,
                              token.size(), kLongestToken));
  }
  if (token.empty()) return cannot(fmt::format("the token file {} is empty; write a secret into its first line", path));
  return token;
}

}  // namespace roce::live
