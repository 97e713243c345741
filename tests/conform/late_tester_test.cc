// SPDX-License-Identifier: BSD-2-Clause
// A tester that is too slow itself: what it sees then is nobody's fault, and says nothing of the device.
#include <gmock/gmock.h>

#include <string>

#include "conform/language/instance.h"
#include "conform/language/read_case.h"
#include "conform/run/case_run.h"
#include "conform/run/outcome.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace roce::conform {
namespace {

using testing::HasSubstr;

/// Runs a case in which the device is paused for 0.8 ms and has something to send. `rest` is what comes then.
CaseOutcome run_paused(const std::string& rest) {
  const CaseResult<Case> one =
      read_case("pfc-x.yaml",
                "case: pfc-x\ntitle: A title\nrule: [CC-06]\nlevel: must\nneeds: [agent, rc, pfc]\n"
                "setup: {qp: {service_level: 3}}\nsteps:\n"
                "  - inject: {PFC: , pfc.enables: 8, pfc.timers: 0x4000}\n    label: pause\n"
                "  - post_send: {opcode: send, length: 100, wr_id: 1}\n" +
                    rest);
  const std::vector<Instance> instances = expand(one.value()).value();
  MemoryTarget target{transport::strict_profile(), 1};
  return CaseRun{target, instances.front(), 1, {}}.run();
}

TEST(LateTester, AFrameAfterTheEndOfWhatHeldItSaysNothing) {
  const CaseOutcome outcome =
      run_paused("  - quiet: pause_time(0x8000)\n    within: pause_time(0x4000) - 1us\n    since: pause\n");
  EXPECT_TRUE(outcome.was_late);
  ASSERT_TRUE(outcome.failure);
  EXPECT_THAT(outcome.failure->what, HasSubstr("the tester was too slow"));
}

TEST(LateTester, AFrameBeforeThatIsWrong) {
  const CaseOutcome outcome =
      run_paused("  - quiet: pause_time(0x8000)\n    within: pause_time(0xFFFF)\n    since: pause\n");
  EXPECT_FALSE(outcome.was_late);
  EXPECT_EQ(outcome.result, Result::fail);
  ASSERT_TRUE(outcome.failure);
  EXPECT_THAT(outcome.failure->what, HasSubstr("expected nothing, seen after"));
}

TEST(LateTester, AFrameThatCameBeforeTheStepWasDoneAgainSaysNothing) {
  const std::string again =
      "  - wait: pause_time(0x8000)\n  - inject: {PFC: , pfc.enables: 8, pfc.timers: 0x4000}\n    label: pause\n"
      "  - expect: {SEND_ONLY: , bth.psn: $S}\n    since: pause\n    after: pause_time(0x4000)\n";
  const CaseOutcome outcome = run_paused(again);
  EXPECT_TRUE(outcome.was_late);
  ASSERT_TRUE(outcome.failure);
  EXPECT_THAT(outcome.failure->what, HasSubstr("before the step \"pause\" was done again"));
}

}  // namespace
}  // namespace roce::conform
