// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "conform/fuzz/program.h"

namespace roce::conform::fuzz {

/// The reason why a file is not as it has to be, with its name.
template <typename T>
using FileResult = tl::expected<T, std::string>;

/// Writes a file whole or not at all. Error: it cannot be written.
[[nodiscard]] FileResult<void> write_whole(const std::string& path, std::string_view content);

/// Programs in a folder, each in a file of its own whose name is the hash of what it holds: several fuzzers can use one
/// folder, a program is there once, and a file that was damaged is known by its name.
class CorpusFolder {
 public:
  /// Makes the folder if it is not there. Error: that cannot be done.
  [[nodiscard]] static FileResult<CorpusFolder> open(const std::string& path);

  /// Returns the programs of all files that were not read yet, in the order of their names. Errors: the folder cannot
  /// be read, or a program is of another version of roce-conform.
  [[nodiscard]] FileResult<std::vector<Program>> read_new();
  /// Writes a program, unless it is there. Error: it cannot be written.
  [[nodiscard]] FileResult<void> add(const Program& program);
  /// Removes a program. Error: it cannot be removed.
  [[nodiscard]] FileResult<void> remove(const Program& program);
  /// Returns what is wrong with files that were found damaged since the last call, a sentence each. They are left as
  /// they are.
  [[nodiscard]] std::vector<std::string> take_damages() { return std::exchange(damages_, {}); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + '/' + name; }

 private:
  explicit CorpusFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unordered_set<std::string> known_;  ///< names of files
  std::vector<std::string> damages_;
};

}  // namespace roce::conform::fuzz
