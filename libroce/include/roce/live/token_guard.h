// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "roce/wire/time.h"

namespace roce::live {

/// True if two secrets are equal. Takes the same time for any two texts of the same lengths.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other);

/// Remembers addresses that sent wrong tokens, so that nobody can try many. After `kFree` wrong ones from an address
/// all connections from it are refused for `kFirstPause`; each further one doubles the pause, up to `kLongestPause`.
class TokenGuard {
 public:
  static constexpr unsigned kFree = 3;
  static constexpr Duration kFirstPause = std::chrono::seconds{10};
  static constexpr Duration kLongestPause = std::chrono::minutes{10};
  /// The most addresses that are remembered; beyond that, the one that was wrong the longest ago is forgotten.
  static constexpr std::size_t kMost = 1024;

  /// Returns until when connections from `address` are refused; `now` if they are not.
  [[nodiscard]] Time refuses_until(const std::string& address, Time now) const;
  /// Counts a wrong token from `address`. Returns as `refuses_until`.
  Time count_wrong(const std::string& address, Time now);
  /// Forgets `address`, which sent the right token.
  void forget(const std::string& address) { known_.erase(address); }

 private:
  struct Known {
    unsigned wrong = 0;
    Time last{};
    Time until{};
  };
  std::map<std::string, Known> known_;
};

}  // namespace roce::live
