// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "roce/wire/time.h"

namespace roce::gen {

/// Whether two secrets are equal. It takes as long for any two texts of the same lengths.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other);

/// Knows who told a wrong token, so that nobody can try many. After `kFree` wrong ones from an address all connections
/// from it are refused for `kFirstPause`; each further one doubles the pause, up to `kLongestPause`.
class TokenGuard {
 public:
  static constexpr unsigned kFree = 3;
  static constexpr Duration kFirstPause = std::chrono::seconds{10};
  static constexpr Duration kLongestPause = std::chrono::minutes{10};
  /// Addresses that are remembered; of more, those are forgotten that were wrong the longest ago.
  static constexpr std::size_t kMost = 1024;

  /// Until when nobody from `address` gets in; not after `now`: everybody does.
  [[nodiscard]] Time refuses_until(const std::string& address, Time now) const;
  /// A wrong token came from there. Returns as `refuses_until`.
  Time count_wrong(const std::string& address, Time now);
  /// The right token came from there.
  void forget(const std::string& address) { known_.erase(address); }

 private:
  struct Known {
    unsigned wrong = 0;
    Time last{};
    Time until{};
  };
  std::map<std::string, Known> known_;
};

}  // namespace roce::gen
