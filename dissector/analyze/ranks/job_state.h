// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roce::analyze {

/// Returns a digest (FNV-1a) of bytes: for telling apart, not against forgery.
[[nodiscard]] std::uint64_t digest_of(std::string_view bytes);

/// A folder in which a job keeps the shares of its work that are finished, so that the same job goes on after it ended
/// early, with any number of ranks. Each file in it is written whole or not at all.
class JobState {
 public:
  static constexpr unsigned kMostShares = 1024;

  /// `shares`: 1 … `kMostShares`, which does not depend on the number of ranks. Touches nothing yet.
  JobState(std::string folder, unsigned shares) : folder_(std::move(folder)), shares_(shares) {}
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;
  ~JobState();

  [[nodiscard]] unsigned shares() const { return shares_; }
  /// Returns the shares from 1 on that are not there whole.
  [[nodiscard]] std::vector<unsigned> missing() const;

  /// Makes the folder, or takes the one that there is, until the process ends; only one rank of a job does that. `job`
  /// has a line for each thing that decides what shares are. Returns why not, in a sentence: the folder is of another
  /// job, another one works in it, or it cannot be written. Empty: it is taken.
  [[nodiscard]] std::string claim(const std::string& job);
  /// Keeps what a share is. Throws std::runtime_error with a sentence if it cannot be written.
  void save(unsigned share, std::string_view packed) const;
  /// Returns what `save` was given. Throws std::runtime_error with a sentence if it is not there whole.
  [[nodiscard]] std::string load(unsigned share) const;

 private:
  [[nodiscard]] std::string path_of(unsigned share) const;

  std::string folder_;
  unsigned shares_;
  int lock_ = -1;
};

}  // namespace roce::analyze
