// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment/psn_map.h"

#include <algorithm>

namespace roce::replay {

LongPsn PsnCounter::unwrap(Psn psn) {
  if (!has_begun_) {
    // Far enough from 0 for PSNs that were sent earlier.
    newest_ = (LongPsn{1} << 32U) + psn.value();
    has_begun_ = true;
  }
  return newest_ + psn.distance_from(Psn{static_cast<std::uint32_t>(newest_ & Psn::kMax)});
}

void PsnMap::add(LongPsn first, std::uint32_t old_count, std::uint32_t new_count) {
  if (old_count == 1 && new_count == 1) return;
  messages_.push_back({first, find(first).first, old_count, new_count});
}

PsnMap::Place PsnMap::find(LongPsn psn) const {
  auto message = std::upper_bound(messages_.begin(), messages_.end(), psn,
                                  [](LongPsn number, const Renumbered& one) { return number < one.old_first; });
  if (message == messages_.begin()) return {.first = psn, .last = psn};
  --message;
  const LongPsn offset = psn - message->old_first;
  if (offset >= message->old_count) {
    const LongPsn moved = message->new_first + message->new_count + (offset - message->old_count);
    return {.first = moved, .last = moved};
  }
  const auto index = static_cast<std::uint32_t>(offset);
  const bool is_last = index + 1 == message->old_count;
  if (joins()) {
    const std::uint32_t ratio = new_mtu_ / old_mtu_;
    const std::uint32_t packet = index / ratio;
    return {.first = message->new_first + packet,
            .last = message->new_first + packet,
            .skipped = index % ratio,
            .parts = std::min(ratio, message->old_count - packet * ratio),
            .packet = packet,
            .is_joined = true};
  }
  const std::uint32_t ratio = old_mtu_ / new_mtu_;
  const std::uint32_t packet = index * ratio;
  return {.first = message->new_first + packet,
          .last = message->new_first + (is_last ? message->new_count : packet + ratio) - 1,
          .packet = packet};
}

}  // namespace roce::replay
