// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/input/input_files.h"

namespace roce::analyze {

/// A folder into which a capture writes one file after the other, and from which it may remove old ones: a ring buffer.
class GrowingFolder {
 public:
  explicit GrowingFolder(std::string path) : path_(std::move(path)) {}

  /// Looks for capture files that are new, or were begun anew under their old name. Returns true if one is ready that
  /// `next` has not returned yet.
  bool look();
  /// Returns the next file, in the order of their first packets; nothing if there is none at present.
  [[nodiscard]] std::optional<InputFile> next();
  /// Tells how much of a file was read, so that one that is begun anew and has become shorter is found.
  void note_read(const std::string& path, std::uint64_t bytes);
  /// Returns the number of files that were removed before `next` returned them.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  struct Known {
    std::uint64_t size = 0;  ///< of what is no capture so far: when that was found; of a capture: as far as it was read
    bool is_capture = false;
  };
  struct Waiting {
    InputFile file;
    Identity identity{};
  };

  void look_at(const std::string& path);
  void drop_removed();

  std::string path_;
  std::map<Identity, Known> known_;
  std::vector<Waiting> waiting_;  ///< the earliest first
  std::uint64_t missed_ = 0;
};

}  // namespace roce::analyze
