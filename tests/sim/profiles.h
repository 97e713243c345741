// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "roce/transport/profile.h"

namespace roce::sim {

/// The profiles that every scenario runs under.
inline constexpr std::array<std::string_view, 3> kProfiles{"rxe", "hardware_like", "strict"};

/// The base of a scenario's fixture; the test parameter is the name of a profile.
class ScenarioTest : public testing::TestWithParam<std::string_view> {
 protected:
  [[nodiscard]] static transport::Profile profile() { return transport::profile_of(GetParam()); }
  [[nodiscard]] static bool is_rxe() { return GetParam() == "rxe"; }
};

inline std::string profile_name(const testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

/// Runs the tests of a fixture under each profile.
#define ROCE_UNDER_EACH_PROFILE(fixture) \
  INSTANTIATE_TEST_SUITE_P(Profile, fixture, testing::ValuesIn(roce::sim::kProfiles), roce::sim::profile_name)

}  // namespace roce::sim
