// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/run_script.h"

namespace roce::live {

Driver::Step step_script(Endpoint& endpoint, Script& script, Time now) {
  const bool moved = script.step(now);
  while (endpoint.port().poll_event(now)) {
  }
  if (script.is_over()) return Driver::Step::done;
  endpoint.driver().wake_at(script.next_timeout());
  return moved ? Driver::Step::busy : Driver::Step::idle;
}

Result<void> run_script(RdmaCm& cm, Task<> task) {
  Endpoint& endpoint = cm.endpoint();
  Script script{std::move(task)};
  const Result<bool> ran = endpoint.driver().run([&](Time now) {
    const bool moved = cm.step(now);
    const Driver::Step stepped = step_script(endpoint, script, now);
    return stepped == Driver::Step::idle && moved ? Driver::Step::busy : stepped;
  });
  if (!ran) return tl::unexpected(ran.error());
  if (!*ran) return failed("interrupted");
  if (!script.error().empty()) return failed(script.error());
  return {};
}

}  // namespace roce::live
