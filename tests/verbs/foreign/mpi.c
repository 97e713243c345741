// SPDX-License-Identifier: BSD-2-Clause
// The ranks of an MPI program in talks with each other, all results compared. usage: mpi allreduce|alltoall|messages|puts|gets|atomics
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 2 << 20, kRounds = 3 };

static int rank, ranks;

static void expect(int is_right, const char* what, size_t size, size_t at) {
  if (is_right) return;
  fprintf(stderr, "rank %d: %s of %zu bytes: wrong at %zu\n", rank, what, size, at);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* memory(size_t size) {
  void* bytes = calloc(1, size);
  if (bytes == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  return bytes;
}

// The value that a rank sends to another in some round.
static uint64_t value(int from, int to, int round, size_t at) {
  return ((uint64_t)from << 56) + ((uint64_t)to << 48) + ((uint64_t)round << 40) + at * 2654435761U % 1000003;
}

static void allreduce(size_t size, int round) {
  const size_t count = size / 8;
  uint64_t *in = memory(size), *out = memory(size);
  for (size_t i = 0; i < count; ++i) in[i] = value(rank, 0, round, i);
  MPI_Allreduce(in, out, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (size_t i = 0; i < count; ++i) {
    uint64_t sum = 0;
    for (int other = 0; other < ranks; ++other) sum += value(other, 0, round, i);
    expect(out[i] == sum, "allreduce", size, i);
  }
  free(in);
  free(out);
}

static void alltoall(size_t size, int round) {
  const size_t count = size / 8;
  uint64_t *in = memory(size * (size_t)ranks), *out = memory(size * (size_t)ranks);
  for (int to = 0; to < ranks; ++to)
    for (size_t i = 0; i < count; ++i) in[(size_t)to * count + i] = value(rank, to, round, i);
  MPI_Alltoall(in, (int)count, MPI_UINT64_T, out, (int)count, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int from = 0; from < ranks; ++from)
    for (size_t i = 0; i < count; ++i) expect(out[(size_t)from * count + i] == value(from, rank, round, i), "alltoall", size, i);
  free(in);
  free(out);
}

// Each rank sends to the next, and receives from the one before: by either kind of call.
static void messages(size_t size, int round) {
  const size_t count = size / 8;
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  uint64_t *in = memory(size), *out = memory(size);
  for (size_t i = 0; i < count; ++i) in[i] = value(rank, next, round, i);
  if (round % 2 == 0) {
    MPI_Request both[2];
    MPI_Irecv(out, (int)count, MPI_UINT64_T, last, round, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(in, (int)count, MPI_UINT64_T, next, round, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  } else if (rank % 2 == 0) {
    MPI_Ssend(in, (int)count, MPI_UINT64_T, next, round, MPI_COMM_WORLD);
    MPI_Recv(out, (int)count, MPI_UINT64_T, last, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(out, (int)count, MPI_UINT64_T, last, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(in, (int)count, MPI_UINT64_T, next, round, MPI_COMM_WORLD);
  }
  for (size_t i = 0; i < count; ++i) expect(out[i] == value(last, rank, round, i), "message", size, i);
  free(in);
  free(out);
}

static void puts_of(size_t size, int round) {
  const size_t count = size / 8;
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  uint64_t *in = memory(size), *shared;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  memset(shared, 0, size);
  for (size_t i = 0; i < count; ++i) in[i] = value(rank, next, round, i);
  MPI_Win_fence(0, window);
  MPI_Put(in, (int)count, MPI_UINT64_T, next, 0, (int)count, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  for (size_t i = 0; i < count; ++i) expect(shared[i] == value(last, rank, round, i), "put", size, i);
  MPI_Win_free(&window);
  free(in);
}

static void gets_of(size_t size, int round) {
  const size_t count = size / 8;
  const int next = (rank + 1) % ranks;
  uint64_t *out = memory(size), *shared;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  for (size_t i = 0; i < count; ++i) shared[i] = value(rank, 0, round, i);
  MPI_Win_fence(0, window);
  MPI_Get(out, (int)count, MPI_UINT64_T, next, 0, (int)count, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  for (size_t i = 0; i < count; ++i) expect(out[i] == value(next, 0, round, i), "get", size, i);
  MPI_Win_free(&window);
  free(out);
}

// All ranks add to the memory of rank 0, and count in it: no two get the same number.
static void atomics(size_t size, int round) {
  const size_t count = size / 8, counter = count;
  enum { kTurns = 20 };
  uint64_t *in = memory(size), *shared, numbers[kTurns], one = 1;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)(size + 8), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  memset(shared, 0, size + 8);
  for (size_t i = 0; i < count; ++i) in[i] = value(rank, 0, round, i);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  MPI_Accumulate(in, (int)count, MPI_UINT64_T, 0, 0, (int)count, MPI_UINT64_T, MPI_SUM, window);
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Fetch_and_op(&one, &numbers[turn], MPI_UINT64_T, 0, (MPI_Aint)counter, MPI_SUM, window);
    MPI_Win_flush(0, window);
    expect(turn == 0 || numbers[turn] > numbers[turn - 1], "fetch_and_op", size, (size_t)turn);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  uint64_t* all = memory(sizeof numbers * (size_t)ranks);
  MPI_Gather(numbers, kTurns, MPI_UINT64_T, all, kTurns, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (size_t i = 0; i < count; ++i) {
      uint64_t sum = 0;
      for (int other = 0; other < ranks; ++other) sum += value(other, 0, round, i);
      expect(shared[i] == sum, "accumulate", size, i);
    }
    expect(shared[counter] == (uint64_t)(kTurns * ranks), "counter", 8, 0);
    char* seen = memory((size_t)(kTurns * ranks));
    for (int i = 0; i < kTurns * ranks; ++i) {
      expect(all[i] < (uint64_t)(kTurns * ranks) && !seen[all[i]], "numbers", 8, (size_t)i);
      seen[all[i]] = 1;
    }
    free(seen);
  }
  free(all);
  MPI_Win_free(&window);
  free(in);
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(size_t size, int round);
  } kTests[] = {{"allreduce", allreduce}, {"alltoall", alltoall}, {"messages", messages},
                {"puts", puts_of},        {"gets", gets_of},      {"atomics", atomics}};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t test = 0; count == 2 && test < sizeof kTests / sizeof kTests[0]; ++test) {
    if (strcmp(words[1], kTests[test].name) != 0) continue;
    for (size_t size = 8; size <= kMost; size *= 8)
      for (int round = 0; round < kRounds; ++round) kTests[test].run(size, round);
    kTests[test].run(kMost, 0);
    if (rank == 0) printf("%d ranks: %s compared\n", ranks, words[1]);
  }
  MPI_Finalize();
  return 0;
}
