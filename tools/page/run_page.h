// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "page/pyramid.h"
#include "page/timeline_json.h"

namespace roce::page {

/// The importance of a sentence.
enum class Tone : std::uint8_t { note, warning, error };

/// The form of the numbers of a column. Any cell may be null: not known.
enum class Form : std::uint8_t {
  text,
  count,
  bad,  ///< a count that should be 0
  bytes,
  ns,
  bps,
  ratio
};

struct RunColumn {
  std::string_view name;  ///< small letters and underscores, as filters take them
  Form form{};
};

/// A table to sort and filter. Without rows it is not shown.
struct RunTable {
  std::string_view id;
  std::string_view title;
  std::string_view hint;
  std::vector<RunColumn> columns;
  std::vector<nlohmann::ordered_json> rows;  ///< an array each, with a cell for each column
};

/// Times of one kind: messages of an operation, or flows of a workload.
struct RunTimes {
  std::string kind;
  std::uint64_t count = 0;
  std::vector<std::int64_t> ns;  ///< at each of `time_shares()`
};

/// Returns the shares at which times are given, from 0 (the least) to 1 (the highest).
[[nodiscard]] const std::vector<double>& time_shares();

/// A run of a program that sends, for its page.
struct RunPage {
  std::string program;  ///< with its version
  std::string title;
  std::string verdict;
  Tone tone{};
  std::vector<std::pair<Tone, std::string>> statements;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string_view kind;  ///< of `times`, as a heading
  std::string_view what;  ///< that took time: `messages`
  std::vector<RunTimes> times;
  std::vector<RunTable> tables;
};

/// Returns the page's data. `timeline`: series over time, which begins at `start`; nullptr: none.
[[nodiscard]] std::string run_json(const RunPage& page, Pyramid* timeline, std::span<const SeriesInfo> series,
                                   std::string_view start);

}  // namespace roce::page
