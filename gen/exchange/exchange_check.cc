// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "roce/live/pattern.h"

namespace roce::gen {

namespace {

using Json = nlohmann::ordered_json;

/// Time for messages that are still on their way after the last request completed.
constexpr Duration kDrainTime = std::chrono::seconds{1};
/// Time between two questions to the peer about what it has received.
constexpr Duration kLookInterval = std::chrono::milliseconds{1};
/// Parts of memory compared by one request.
constexpr std::size_t kPartsPerCheck = 1024;

/// Compares the peer's memory with the last message of each slot.
Outcome<void> check_memory(ExchangePairs& pairs, live::ControlClient& peer, const ExchangeOptions& options) {
  Json parts = Json::array();
  const auto ask = [&]() -> Outcome<void> {
    if (parts.empty()) return {};
    const Outcome<nlohmann::json> answer =
        peer.call("check_memory", {{"memory", pairs.remote_memory()}, {"parts", parts}});
    if (!answer) return tl::unexpected(answer.error());
    parts = Json::array();
    if (answer->value("equal", false)) return {};
    return failed(fmt::format("the peer's memory is wrong at byte {}", answer->value("wrong_at", std::uint64_t{0})));
  };
  for (std::uint32_t index = 0; index < options.qps; ++index) {
    const std::uint64_t posted = pairs.all()[index].posted;
    const std::uint64_t first = posted > options.depth ? posted - options.depth : 0;
    for (std::uint64_t number = first; number < posted; ++number) {
      parts.push_back({{"offset", pairs.slot_offset(index, number)},
                       {"length", options.size_of(number)},
                       {"seed", live::message_seed(pairs.seed(), index, number)}});
      if (parts.size() < kPartsPerCheck) continue;
      if (Outcome<void> checked = ask(); !checked) return checked;
    }
  }
  return ask();
}

/// Waits for messages on their way. Returns how many did not arrive.
Outcome<std::uint64_t> check_receives(std::span<const ExchangePair> pairs, live::Endpoint& endpoint,
                                      live::ControlClient& peer) {
  const Time deadline = endpoint.now() + kDrainTime;
  std::uint64_t lost = 0;
  for (const ExchangePair& pair : pairs) {
    std::uint64_t received = 0;
    while (true) {
      const Outcome<nlohmann::json> status = peer.call("sink_status", {{"qp", pair.remote_qp.value()}});
      if (!status) return tl::unexpected(status.error());
      if (const std::uint64_t wrong = status->at("wrong"); wrong != 0) {
        return failed(fmt::format("{} messages arrived with wrong data", wrong));
      }
      received = status->at("received");
      if (received >= pair.completed || endpoint.now() >= deadline) break;
      // Messages that are on their way arrive meanwhile.
      const Time look_at = endpoint.now() + kLookInterval;
      endpoint.driver().wake_at(look_at);
      const live::Result<bool> ran = endpoint.driver().run(
          [look_at](Time time) { return time >= look_at ? live::Driver::Step::done : live::Driver::Step::idle; });
      if (!ran) return tl::unexpected(ran.error());
      if (!*ran) return failed("stopped while the last messages were waited for");
    }
    lost += pair.completed - std::min(received, pair.completed);
  }
  return lost;
}

}  // namespace

Outcome<std::uint64_t> check_peer(ExchangePairs& pairs, live::Endpoint& endpoint, live::ControlClient& peer,
                                  const ExchangeOptions& options) {
  // A lost SEND of UC shifts the numbers of those after it, so they are wrong; only datagrams carry their number.
  if (options.is_sent()) return check_receives(pairs.all(), endpoint, peer);
  if (options.is_written() && options.qp_type() == transport::QpType::rc) {
    if (const Outcome<void> checked = check_memory(pairs, peer, options); !checked)
      return tl::unexpected(checked.error());
  }
  return 0;
}

}  // namespace roce::gen
