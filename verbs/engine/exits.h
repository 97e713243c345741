// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::verbs {

class Engine;

/// From here on until `forget`, the engine answers its peers (`Engine::answer`) when the process ends by `exit`, also
/// if the program has destroyed nothing.
void answer_at_exit(Engine& engine);
void forget(Engine& engine);

}  // namespace roce::verbs
