// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

// The one way in which the programs read JSON (RFC 8259) that others wrote.
namespace roce::json_input {

/// The limits of a text. One that exceeds them is given up, so that no value is ever larger: code that copies, prints
/// or destroys a value recurses as deep as the value does.
struct Bounds {
  std::size_t bytes = std::size_t{4} << 20;
  std::size_t depth = 16;      ///< levels of lists and objects within each other
  std::size_t values = 65536;  ///< members, elements and the whole, together
  std::size_t members = 4096;  ///< in one object
};

/// The treatment of comments, as JavaScript has them, in a text.
enum class Comments : std::uint8_t { refused, ignored };

/// The reason why a text was not taken.
struct Problem {
  std::size_t byte = 0;  ///< the place, counted from 1; 0: the text as a whole
  std::string what;      ///< without the place, and short whatever the text is: `expected …, found …`
};

/// Reads a text that is one JSON value. A `Problem` if the text is not JSON, exceeds `bounds`, names a member of an
/// object twice, or has a number that no double holds. Everything that is read is UTF-8.
///
/// `Json` is `nlohmann::json` or `nlohmann::ordered_json`.
template <typename Json>
[[nodiscard]] tl::expected<Json, Problem> parse(std::string_view text, const Bounds& bounds = {},
                                                Comments comments = Comments::refused);

extern template tl::expected<nlohmann::json, Problem> parse(std::string_view, const Bounds&, Comments);
extern template tl::expected<nlohmann::ordered_json, Problem> parse(std::string_view, const Bounds&, Comments);

/// Returns the text of a value for a message: a string cut after `longest` bytes, or `a list`, or `an object`.
[[nodiscard]] std::string shown_value(const nlohmann::json& value, std::size_t longest = 60);
/// Returns text of others for a message: cut after `longest` bytes, with dots for what is not printable ASCII.
[[nodiscard]] std::string shown_text(std::string_view text, std::size_t longest = 60);

}  // namespace roce::json_input
