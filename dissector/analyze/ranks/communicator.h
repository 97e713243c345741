// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roce::analyze {

/// All ranks of the job. Every member that says so has to be called by all of them. Errors of MPI end the job.
class Communicator {
 public:
  /// Begins MPI; without `mpirun` there is one rank.
  Communicator(int& argc, char**& argv);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  /// Ends MPI. All ranks.
  ~Communicator();

  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] unsigned size() const { return size_; }
  [[nodiscard]] static std::string host();
  /// Returns at rank 0 what the ranks gave, by rank; elsewhere nothing. All ranks.
  [[nodiscard]] std::vector<std::string> gather(std::string_view mine) const;
  /// Returns what rank 0 gave. All ranks.
  [[nodiscard]] bool broadcast(bool mine) const;
  /// Ends all ranks at once, for a rank that cannot go on.
  [[noreturn]] static void abort(int code);

 private:
  unsigned rank_ = 0;
  unsigned size_ = 1;
};

}  // namespace roce::analyze
