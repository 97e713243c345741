// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roce::conform {

/// The member `format` of a fuzzer's summary.
inline constexpr const char* kFuzzFormat = "roce-conform fuzz 1";

/// A finding of a fuzzer.
struct FuzzFinding {
  std::string name;           ///< of its case, whose file is this and .yaml
  std::string oracle;         ///< the judge that it comes from
  std::string what;           ///< a sentence
  std::string place;          ///< the same for findings that are one fault
  std::uint64_t times = 0;    ///< how often programs showed it
  std::uint64_t shown = 0;    ///< in how many runs of its program alone it showed again
  std::uint64_t repeats = 0;  ///< how many these were
  std::uint64_t actions = 0;  ///< of its program
};

/// The course of a fuzzer's run, and what came of it.
struct FuzzSummary {
  std::string program;          ///< the version of roce-conform
  std::string device;           ///< what was tested
  std::int64_t started_ns = 0;  ///< since 1970
  std::uint64_t seed = 0;
  double seconds = 0;        ///< how long programs ran, those of the runs that were resumed included
  double quiet_seconds = 0;  ///< since the last signature that was new
  std::string ended;         ///< why it ended before its time; empty: it did not
  std::uint64_t programs = 0;
  std::uint64_t frames = 0;
  std::uint64_t signatures = 0;
  std::uint64_t corpus = 0;            ///< programs that the fuzzer went on from
  std::uint64_t states = 0;            ///< that were reached
  std::uint64_t possible_states = 0;   ///< that the models tell apart
  std::uint64_t damaged_files = 0;     ///< of the corpus
  std::uint64_t recoveries = 0;        ///< how often the device died and was brought back
  std::uint64_t left_out = 0;          ///< kinds of actions that are left out because it died of them
  std::vector<std::string> oracles{};  ///< the names of all judges
  std::vector<FuzzFinding> findings{};
};

/// Returns one JSON object (conform/fuzz.schema.json).
[[nodiscard]] std::string to_json(const FuzzSummary& summary);

}  // namespace roce::conform
