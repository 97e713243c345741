// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that tell the device something or ask it, each read from the argument of its word.
#pragma once

#include "conform/language/case.h"
#include "conform/language/source_node.h"

namespace roce::conform {

/// A step without its modifiers. Errors name the place of a member that is wrong.
using ActionResult = CaseResult<Action>;

[[nodiscard]] ActionResult read_probe(const SourceNode& node);
/// Reads a verb from its arguments, of which `on` names the object.
[[nodiscard]] ActionResult read_verb(Verb::Kind kind, const SourceNode& node);
/// Reads a verb whose only argument is the name of the object that ends.
[[nodiscard]] ActionResult read_ending(Verb::Kind kind, const SourceNode& node);
[[nodiscard]] ActionResult read_completion(const SourceNode& node);
[[nodiscard]] ActionResult read_no_completion(const SourceNode& node);
[[nodiscard]] ActionResult read_event(const SourceNode& node);
[[nodiscard]] ActionResult read_no_event(const SourceNode& node);
[[nodiscard]] ActionResult read_cm_event(const SourceNode& node);
[[nodiscard]] ActionResult read_state(const SourceNode& node);
[[nodiscard]] ActionResult read_memory(const SourceNode& node);
[[nodiscard]] ActionResult read_counter(const SourceNode& node);

}  // namespace roce::conform
