// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "text/text_buffer.h"

namespace roce::packet_text {

/// Appends seconds with `digits` (6 or 9) decimal places, right-aligned: `     0.387034`, `-0.000012`.
void append_seconds(text::TextBuffer& out, std::int64_t ns, unsigned digits, std::size_t width = 0);

/// Formats nanoseconds since 1970 as `2026-11-20T23:55:31.479194Z`. Caches the date for packets that follow within the
/// same second.
class UtcText {
 public:
  void append(text::TextBuffer& out, std::int64_t ns, unsigned digits);

 private:
  std::int64_t second_ = std::numeric_limits<std::int64_t>::min();
  std::array<char, 32> text_{};
  std::size_t size_ = 0;
};

/// A time given by a user.
struct TimeBound {
  std::int64_t ns = 0;
  bool relative = false;  ///< since the first packet of the file, else since 1970
};

/// Reads `12.5` (seconds since the first packet), `1795213331.479194` (since 1970, for any value from 10^8 on), or an
/// RFC 3339 time, `2026-11-20T23:55:31.479Z`; without a zone it is UTC. `text` may not contain anything else.
[[nodiscard]] std::optional<TimeBound> parse_time(std::string_view text);

}  // namespace roce::packet_text
