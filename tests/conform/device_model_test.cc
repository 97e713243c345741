// SPDX-License-Identifier: BSD-2-Clause
// What the fuzzer's model of a responder lets a device do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/gate.h"
#include "conform/fuzz/request_frame.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace roce::conform::fuzz {
namespace {

TEST(DeviceModel, LetsAReadWithAPayloadBeAnsweredAgain) {
  MemoryTarget target{transport::strict_profile(), 1};
  Gate gate;
  TargetResult<Bench> bench = Bench::make(target, gate, {});
  ASSERT_TRUE(bench);
  DeviceModel& model = bench->clean();
  const auto behaviours = [&](std::int32_t psn) {
    const Request read{.opcode = Opcode::rc_read_request, .psn = psn, .payload = 8, .length = 8};
    const std::vector<std::byte> frame = build_request(read, model, *bench, target.port());
    return model.judge(parse_frame(frame, LinkType::ethernet));
  };
  const auto names = [](const Expectation& expectation) {
    std::vector<std::string> all;
    std::ranges::transform(expectation, std::back_inserter(all), &Behaviour::name);
    return all;
  };
  const Expectation first = behaviours(0);
  const auto executed = std::ranges::find(first, "executed", &Behaviour::name);
  ASSERT_NE(executed, first.end()) << testing::PrintToString(names(first));
  model.apply(*executed);
  EXPECT_THAT(names(behaviours(-1)), testing::IsSupersetOf({"READ answered again", "ignored"}));
}

}  // namespace
}  // namespace roce::conform::fuzz
