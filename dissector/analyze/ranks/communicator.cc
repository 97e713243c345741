// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/ranks/communicator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The C++ functions of MPI 2 would need a library of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace roce::analyze {

namespace {

// MPI counts bytes in an int.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;

/// Calls `transfer(begin, count)` for parts of `size` bytes that MPI can count.
template <typename Transfer>
void in_parts(std::size_t size, Transfer transfer) {
  for (std::size_t at = 0; at < size; at += kMostAtOnce) {
    transfer(at, static_cast<int>(std::min(kMostAtOnce, size - at)));
  }
}

}  // namespace

Communicator::Communicator(int& argc, char**& argv) {
  // Only the first thread of a rank calls MPI.
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = static_cast<unsigned>(rank);
  size_ = static_cast<unsigned>(size);
}

Communicator::~Communicator() {
  MPI_Finalize();
}

std::string Communicator::host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

std::vector<std::string> Communicator::gather(std::string_view mine) const {
  std::uint64_t size = mine.size();
  if (rank_ != 0) {
    MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    in_parts(mine.size(),
             [&](std::size_t at, int count) { MPI_Send(mine.data() + at, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD); });
    return {};
  }
  std::vector<std::string> all(size_);
  all[0] = mine;
  for (unsigned rank = 1; rank < size_; ++rank) {
    const int from = static_cast<int>(rank);
    MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all[rank].resize(size);
    in_parts(all[rank].size(), [&](std::size_t at, int count) {
      MPI_Recv(all[rank].data() + at, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
  return all;
}

bool Communicator::broadcast(bool mine) const {
  int value = mine ? 1 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value != 0;
}

void Communicator::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace roce::analyze
