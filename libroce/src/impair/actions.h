// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>

#include "impair/random.h"
#include "roce/impair/rule.h"
#include "roce/wire/fields.h"
#include "roce/wire/packet.h"

namespace roce::impair {

/// The field that an `Edit` sets.
struct EditTarget {
  const HeaderInfo* header = nullptr;
  const FieldInfo* field = nullptr;
};

/// Looks up a field such as `bth.psn` in the field table; what is unknown is a null pointer.
[[nodiscard]] EditTarget find_edit_target(std::string_view name);

// In these functions `packet` is a frame as it was parsed, and `frame` its bytes, which earlier actions may have
// changed since. No action moves bytes, so all places stay as parsed.

/// True if the action can be applied to the packet.
[[nodiscard]] bool is_possible(const Action& action, const EditTarget& target, const Packet& packet);

/// Sets the field, and corrects the checksums and the ICRC that were right before.
void apply_edit(const Edit& edit, const EditTarget& target, const Packet& packet, std::span<std::byte> frame);
void apply_mark_ce(const Packet& packet, std::span<std::byte> frame);
void apply_corrupt(const Corrupt& corrupt, const Packet& packet, std::span<std::byte> frame, Random& random);

}  // namespace roce::impair
