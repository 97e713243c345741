// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "sim/endpoint.h"
#include "sim/profiles.h"

namespace roce::sim {

/// Two endpoints that recover from losses in their own ways, and a link with faults between them.
class LossyPair : public ScenarioTest {
 protected:
  static constexpr Duration kOneWay = std::chrono::microseconds{10};
  static constexpr std::uint32_t kPacketBytes = 1024;
  /// The timeout of the QPs is 67 ms: what ends sooner did not wait for it.
  static constexpr Duration kLongBeforeTheTimeout = std::chrono::milliseconds{5};

  /// Returns the profile of the test with this recovery.
  [[nodiscard]] static transport::Profile profile_with(const transport::LossRecovery& recovery) {
    transport::Profile with = profile();
    with.recovery = recovery;
    return with;
  }
  void make(const transport::Profile& a, const transport::Profile& b, std::string_view faults,
            const Connection& connection = {}) {
    Pair::Options options = Pair::with(a);
    options.b_host = options.a_host;
    options.b_host->profile = b;
    options.link.delay = kOneWay;
    options.link.impair = faults;
    options.connection = connection;
    pair_.emplace(options);
    pair_->network.keep_trace(Tap::sent);
  }
  /// Gives the memory of the end that data comes from bytes that tell their places.
  static void fill(const Endpoint& from) {
    std::ranges::generate(from.memory(), [i = 0]() mutable { return static_cast<std::byte>(i++ % 251); });
  }
  [[nodiscard]] bool memories_are_equal(std::uint32_t packets) const {
    return std::ranges::equal(pair_->a.memory().first(packets * kPacketBytes),
                              pair_->b.memory().first(packets * kPacketBytes));
  }

  std::optional<Pair> pair_;
};

}  // namespace roce::sim
