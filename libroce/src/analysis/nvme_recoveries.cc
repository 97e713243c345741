// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/nvme_recoveries.h"

#include <algorithm>
#include <array>

namespace roce::analysis {

void NvmeRecoveries::add(Time begin, Time end, bool is_not_ready) {
  Recovery recovery{begin, end, is_not_ready};
  while (!recoveries_.empty() && begin <= recoveries_.back().end) {
    const Recovery& last = recoveries_.back();
    if (last.is_not_ready != is_not_ready) {
      recovery.begin = std::max(recovery.begin, last.end);
      break;
    }
    recovery.begin = std::min(recovery.begin, last.begin);
    recovery.end = std::max(recovery.end, last.end);
    recoveries_.pop_back();
  }
  if (recoveries_.size() == kMost) recoveries_.pop_front();
  if (recovery.begin < recovery.end) recoveries_.push_back(recovery);
}

NvmeRecoveries::Held NvmeRecoveries::held_up(Time begin, Time end) const {
  Held held;
  for (auto each = recoveries_.rbegin(); each != recoveries_.rend() && each->end > begin; ++each) {
    const Time from = std::max(begin, each->begin);
    const Time until = std::min(end, each->end);
    if (until <= from) continue;
    // Something that goes on long after a recovery did not wait for it.
    if (end - until > (until - from) / 2) break;
    (each->is_not_ready ? held.not_ready : held.lost) += until - from;
    end = from;
  }
  return held;
}

void NvmeRecoveries::explain(NvmeExchange& exchange, Time capsule_end) const {
  std::array<Duration, kNvmeDelays> parts{};
  const auto add = [&](NvmeDelay delay, Time begin, Time end) {
    if (end <= begin) return;
    const Held held = held_up(begin, end);
    exchange.lost += held.lost;
    exchange.not_ready += held.not_ready;
    parts[static_cast<std::size_t>(delay)] += end - begin - held.lost - held.not_ready;
  };
  Time at = exchange.start;
  const auto until = [&](NvmeDelay delay, Time end) {
    add(delay, at, end);
    at = std::max(at, end);
  };
  until(NvmeDelay::transfer, std::min(capsule_end, exchange.finish));
  if (exchange.ask) until(NvmeDelay::target, std::min(exchange.ask_time, exchange.finish));
  if (exchange.first_data) {
    const bool is_asked_for = static_cast<bool>(exchange.ask);
    until(is_asked_for ? NvmeDelay::host : NvmeDelay::target, std::min(exchange.first_data_time, exchange.finish));
    until(NvmeDelay::transfer, std::min(exchange.last_data_time, exchange.finish));
  }
  until(exchange.ask && !exchange.first_data ? NvmeDelay::host : NvmeDelay::target, exchange.finish);
  parts[static_cast<std::size_t>(NvmeDelay::loss)] = exchange.lost;
  parts[static_cast<std::size_t>(NvmeDelay::receiver)] = exchange.not_ready;
  exchange.delay = static_cast<NvmeDelay>(std::ranges::max_element(parts) - parts.begin());
}

}  // namespace roce::analysis
