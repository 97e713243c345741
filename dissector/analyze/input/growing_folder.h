// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/input/input_files.h"

namespace roce::analyze {

/// A folder into which a capture writes one file after the other, and from which it may remove old ones: a ring buffer.
/// A file that is begun anew under its old name is another one: its first packet has another time.
class GrowingFolder {
 public:
  explicit GrowingFolder(std::string path) : path_(std::move(path)) {}

  /// Looks for capture files that are new. Returns true if one is ready that `next` has not returned yet.
  bool look();
  /// Returns the next file, in the order of their first packets; nothing if there is none at present.
  [[nodiscard]] std::optional<InputFile> next();
  /// Tells how much of the latest file of `next` was read.
  void leave(std::uint64_t bytes);

  /// Returns the number of files that were removed, or begun anew, before `next` returned them.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }
  /// Returns the number of files that have grown after they were left: another capture writes into the folder, too.
  [[nodiscard]] std::uint64_t left_early() const { return left_early_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Known {
    timespec changed{};  ///< when it was looked into
    bool is_capture = false;
    std::optional<std::int64_t> first_ns;
    std::optional<std::uint64_t> left_at;  ///< as far as it was read; not set before it was left
  };
  struct Waiting {
    InputFile file;
    Identity identity{};
  };

  void look_at(const std::string& path, std::set<Identity>& present);

  std::string path_;
  std::map<Identity, Known> known_;
  std::set<std::string> names_;   ///< paths of the captures so far
  std::vector<Waiting> waiting_;  ///< the earliest first
  std::optional<Identity> current_;
  std::uint64_t missed_ = 0;
  std::uint64_t left_early_ = 0;
};

/// True if the name of a file says that it is compressed.
[[nodiscard]] bool is_compressed_name(const std::string& path);

}  // namespace roce::analyze
