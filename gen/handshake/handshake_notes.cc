// SPDX-License-Identifier: BSD-2-Clause
#include "gen/handshake/handshake_notes.h"

#include <fmt/format.h>

#include "runtime/note.h"

namespace roce::gen {

void HandshakeNotes::step(Time now) {
  tell(now);
  if (limit_.next_summary() != kNever) driver_.wake_at(limit_.next_summary());
}

void HandshakeNotes::tell(Time now) {
  const std::uint64_t count = limit_.take_left_out(now);
  if (count == 0) return;
  runtime::print_note(
      "handshakes",
      fmt::format("{} more connection{} ended before the handshake was complete", count, count == 1 ? "" : "s"), json_);
}

}  // namespace roce::gen
