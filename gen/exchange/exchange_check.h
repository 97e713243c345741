// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/exchange/exchange_options.h"
#include "gen/exchange/exchange_pairs.h"

namespace roce::gen {

/// Compares what arrived at the peer with what was sent, once all requests have completed: each SEND and datagram, and
/// the memory that WRITEs of RC named. Waits up to a second for messages that are still on their way. Returns how many
/// did not arrive, which only those of UC and UD may not. Failure: wrong data, or the peer did not answer.
[[nodiscard]] Outcome<std::uint64_t> check_peer(ExchangePairs& pairs, live::Endpoint& endpoint,
                                                live::ControlClient& peer, const ExchangeOptions& options);

}  // namespace roce::gen
