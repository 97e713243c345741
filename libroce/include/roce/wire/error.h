// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/wire/header_id.h"

namespace roce {

/// The reason why a header or packet could not be parsed to its end.
enum class ParseReason : std::uint8_t {
  none,              ///< nothing is wrong
  cut_short,         ///< the capture's snap length ended inside; the packet itself may be fine
  truncated,         ///< the packet ends inside the header or field
  bad_version,       ///< a version or header-length field has a value that no parser may accept
  bad_length,        ///< a length field contradicts the data that encloses it
  fragment,          ///< an IP fragment: the transport headers are in another packet, or only begin in this one
  not_roce,          ///< well-formed, but not RoCE or its link control
  too_many_headers,  ///< more headers than a Packet can hold
};

/// The reason and the place at which parsing stopped. Offsets are in bytes from the start of the parsed bytes.
struct ParseError {
  ParseReason reason = ParseReason::none;
  HeaderId layer = HeaderId::none;
  std::uint32_t offset = 0;     ///< offset of the header that could not be parsed
  std::uint32_t needed = 0;     ///< bytes, or the expected value for bad_version
  std::uint32_t available = 0;  ///< bytes, or the value found for bad_version

  friend constexpr bool operator==(const ParseError&, const ParseError&) = default;
};

/// A value, or the reason why there is none.
template <typename T>
using Result = tl::expected<T, ParseError>;

[[nodiscard]] std::string_view to_string(ParseReason reason);
/// Returns a text: `truncated RETH at byte 54: need 16, have 9`.
[[nodiscard]] std::string to_string(const ParseError& error);

}  // namespace roce
