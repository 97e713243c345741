// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

// The one way in which the programs read JSON (RFC 8259) that somebody else wrote.
namespace roce::json_input {

/// What a text may have at most. It is given up where it has more, so that no value is ever larger: what copies, prints
/// or destroys one goes as deep as the value does.
struct Bounds {
  std::size_t bytes = std::size_t{4} << 20;
  std::size_t depth = 16;      ///< lists and objects within each other
  std::size_t values = 65536;  ///< members, elements and the whole, together
  std::size_t members = 4096;  ///< of one object
};

/// Whether a text may have comments, as in JavaScript.
enum class Comments : std::uint8_t { refused, ignored };

/// Why a text was not taken.
struct Problem {
  std::size_t byte = 0;  ///< where, counted from 1; 0: in the text as a whole
  std::string what;      ///< without the place, and short whatever the text is: `expected …, found …`
};

/// Reads a text that is one JSON value. A `Problem` for what is no JSON, is larger than `bounds`, names a member of an
/// object twice, or has a number that no double holds. What is read is UTF-8 throughout.
///
/// `Json` is `nlohmann::json` or `nlohmann::ordered_json`.
template <typename Json>
[[nodiscard]] tl::expected<Json, Problem> parse(std::string_view text, const Bounds& bounds = {},
                                                Comments comments = Comments::refused);

extern template tl::expected<nlohmann::json, Problem> parse(std::string_view, const Bounds&, Comments);
extern template tl::expected<nlohmann::ordered_json, Problem> parse(std::string_view, const Bounds&, Comments);

/// A value for a message: its text, cut behind `longest` bytes.
[[nodiscard]] std::string shown_value(const nlohmann::json& value, std::size_t longest = 60);
/// Text of somebody else for a message: cut likewise, and with dots for what is not printable ASCII.
[[nodiscard]] std::string shown_text(std::string_view text, std::size_t longest = 60);

}  // namespace roce::json_input
