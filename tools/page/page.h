// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::page {

/// Says why this build cannot make pages; nothing if it can.
[[nodiscard]] std::optional<std::string_view> why_unavailable();

/// The pages that there are, each for data of its own.
enum class Kind : std::uint8_t {
  capture,  ///< for `report_json` of roce-analyze
  run,      ///< for `run_json`
  conform,  ///< for `report_page_json` of roce-conform
};

/// Addresses that the script of a page may ask.
enum class Reach : std::uint8_t {
  nobody,
  own_server,  ///< the one that the page came from
};

/// Returns one HTML file that needs nothing else and shows `json`, one JSON value, in a browser. Text in it stays text:
/// nothing in `json` can end the script element that holds it.
[[nodiscard]] std::string make_page(Kind kind, std::string_view json, Reach reach = Reach::nobody);

/// Replaces what would have a meaning in a script element by escapes of JSON.
[[nodiscard]] std::string escape_for_script(std::string_view json);

}  // namespace roce::page
