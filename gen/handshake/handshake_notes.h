// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/live/driver.h"
#include "roce/live/note_limit.h"
#include "roce/wire/time.h"

namespace roce::gen {

/// Reports connections that ended before their handshake was complete:
/// the first ones of an interval one by one, the rest as a number.
class HandshakeNotes {
 public:
  HandshakeNotes(live::Driver& driver, bool json) : driver_(driver), json_(json) {}
  /// Prints the number of those not reported yet.
  ~HandshakeNotes() { tell(kNever); }
  HandshakeNotes(const HandshakeNotes&) = delete;
  HandshakeNotes& operator=(const HandshakeNotes&) = delete;

  /// True if the end of this connection may be reported by itself.
  [[nodiscard]] bool may_tell(Time now) { return limit_.may_tell(now); }
  /// Prints the number of the rest when it is due. To be called in each step.
  void step(Time now);

 private:
  void tell(Time now);

  live::Driver& driver_;
  bool json_;
  live::NoteLimit limit_;
};

}  // namespace roce::gen
