// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/export/stream_places.h"
#include "analyze/names/names.h"
#include "analyze/run/analysis_run.h"
#include "columns/batch.h"
#include "roce/wire/types.h"

namespace roce::analyze {

/// The version of all tables together. It rises when a column goes away, or changes its name, its type or its meaning;
/// a column that is new does not change what the others mean.
inline constexpr int kSchemaVersion = 1;

/// A column, and how rows fill it. Many rows at once keep one column in the cache instead of a piece of each.
template <typename Row>
struct TableColumn {
  /// `Fill`: a function object without state, called for each row, that calls a function of the cell exactly once.
  template <typename Fill>
  constexpr TableColumn(const columns::Column& described, Fill /*fill*/)
      : column(described), fill([](std::span<const Row> rows, columns::Cell cell) {
          for (const Row& row : rows) Fill{}(row, cell);
          cell.end();
        }) {}

  columns::Column column;
  void (*fill)(std::span<const Row>, columns::Cell);
};

/// A function as such an object.
template <auto Function>
inline constexpr auto kBy = [](const auto& row, columns::Cell& cell) { Function(row, cell); };

/// Facts of a run that rows of all tables refer to.
struct RunFacts {
  std::string run;  ///< the user's name for this run; may be empty
  const Names* names = nullptr;
  SeenFiles files;
  SeenPoints points;
  StreamPlaces streams;
};

// Helpers of `TableColumn::fill`.

inline void put_if(columns::Cell& cell, bool is_known, std::uint64_t value) {
  if (is_known) return cell.number(value);
  cell.null();
}

/// Puts one of few names that the program itself has; `number` distinguishes them. A nullable column has no empty ones.
inline void put_name(columns::Cell& cell, std::uint64_t number, std::string_view name) {
  cell.text({0, number}, [&] { return name; });
}
inline void put_name_if(columns::Cell& cell, bool is_known, std::uint64_t number, std::string_view name) {
  if (is_known) return put_name(cell, number, name);
  cell.null();
}

inline void put_address(columns::Cell& cell, const Gid& address) {
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(address.octets);
  if (words[0] == 0 && words[1] == 0) return cell.null();
  cell.text({words[0], words[1]}, [&] { return to_string(address); });
}
inline void put_name_of(columns::Cell& cell, const Names& names, const Gid& address) {
  if (names.empty()) return cell.null();
  const std::string_view name = names.find(address);
  if (name.empty()) return cell.null();
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(address.octets);
  cell.text({words[0], words[1]}, [&] { return name; });
}

inline void put_mac(columns::Cell& cell, const MacAddress& address) {
  std::uint64_t key = 0;
  for (const std::uint8_t octet : address.octets) key = key << 8U | octet;
  if (key == 0) return cell.null();
  cell.text({0, key}, [&] { return to_string(address); });
}

inline void put_run(columns::Cell& cell, const RunFacts& facts) {
  cell.text({}, [&] { return std::string_view{facts.run}; });
}
inline void put_point(columns::Cell& cell, const RunFacts& facts, std::uint16_t point) {
  cell.text({0, point}, [&] { return facts.points.name(point); });
}
inline void put_file(columns::Cell& cell, const CaptureFile* file) {
  if (file == nullptr) return cell.text({1, 0}, [] { return std::string_view{}; });
  cell.text({0, file->frame_base}, [&] { return std::string_view{file->path}; });
}

}  // namespace roce::analyze
