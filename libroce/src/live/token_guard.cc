// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/token_guard.h"

#include <algorithm>

namespace roce::live {

bool is_same_secret(std::string_view one, std::string_view other) {
  // Volatile, so that the compiler cannot end the comparison early.
  volatile unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const char against = i < other.size() ? other[i] : '\0';
    difference = difference | static_cast<unsigned>(static_cast<unsigned char>(one[i] ^ against));
  }
  return difference == 0;
}

Time TokenGuard::refuses_until(const std::string& address, Time now) const {
  const auto found = known_.find(address);
  return found == known_.end() ? now : std::max(now, found->second.until);
}

Time TokenGuard::count_wrong(const std::string& address, Time now) {
  if (known_.size() >= kMost && !known_.contains(address)) {
    known_.erase(std::ranges::min_element(known_, {}, [](const auto& known) { return known.second.last; }));
  }
  Known& known = known_[address];
  // An address that was quiet for long starts again.
  if (now - known.last > kLongestPause) known.wrong = 0;
  known.last = now;
  ++known.wrong;
  if (known.wrong >= kFree) {
    constexpr unsigned kMostDoublings = 16;
    const Duration pause = kFirstPause * (1 << std::min(known.wrong - kFree, kMostDoublings));
    known.until = now + std::min<Duration>(pause, kLongestPause);
  }
  return std::max(now, known.until);
}

}  // namespace roce::live
