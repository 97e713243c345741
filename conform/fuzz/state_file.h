// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "conform/fuzz/corpus_folder.h"
#include "conform/fuzz/knowledge.h"

namespace roce::conform::fuzz {

/// The knowledge of a fuzzer, in the folder of its corpus, so that one that was killed can go on: `fuzzer-SEED.yaml`,
/// which is always whole, and `fuzzer-SEED.signatures`, 8 bytes each, which only grows; the first file says how much of
/// the second counts.
class StateFile {
 public:
  /// Takes the state of a seed for this process. Errors: the files cannot be made, or another process has them.
  [[nodiscard]] static FileResult<StateFile> open(const CorpusFolder& folder, std::uint64_t seed, std::string device);
  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&&) = delete;
  ~StateFile();

  struct Loaded {
    FuzzMemory memory{};
    double seconds = 0;  ///< that the fuzzer ran
  };
  /// Forgets an older state.
  [[nodiscard]] FileResult<void> clear();
  /// Returns the state. Errors: there is none, it is damaged, or of another device or version of roce-conform.
  [[nodiscard]] FileResult<Loaded> load();
  /// Writes the state of a fuzzer that ran for so long. Error: it cannot be written, and the older one stays.
  [[nodiscard]] FileResult<void> save(const FuzzMemory& memory, double seconds);

 private:
  StateFile(std::string path, std::uint64_t seed, std::string device, int signatures)
      : path_(std::move(path)), seed_(seed), device_(std::move(device)), fd_(signatures) {}

  [[nodiscard]] FileResult<std::vector<std::uint64_t>> load_signatures(std::uint64_t count, std::uint64_t check);
  [[nodiscard]] FileResult<void> append_signatures(const std::vector<std::uint64_t>& signatures);

  std::string path_;  ///< without the end of the names
  std::uint64_t seed_;
  std::string device_;
  int fd_;                   ///< of the signatures, locked
  std::size_t written_ = 0;  ///< signatures that count
  std::uint64_t check_ = 0;  ///< all of them, mixed
};

}  // namespace roce::conform::fuzz
