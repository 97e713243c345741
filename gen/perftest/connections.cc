// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/connections.h"

#include <fmt/format.h>

#include <algorithm>

namespace roce::gen {

namespace {

constexpr std::uint8_t kRnrRetries = 7;
/// A perftest server begins to listen for the queue pairs some time after it has sent its part of the barrier, and does
/// not tell when. perftest clients try this many times, this far apart.
constexpr int kAttempts = 10;
constexpr Duration kBetweenAttempts = std::chrono::milliseconds{100};
constexpr Duration kLinger = std::chrono::seconds{1};

}  // namespace

live::Task<> PerftestConnections::connect(PerftestPairs& pairs, PerftestRole role, PerftestChannel& channel) {
  if (role == PerftestRole::server) {
    co_await accept_all(pairs, channel);
    co_return;
  }
  plan_.path_mtu = pairs.path_mtu();
  for (std::size_t index = 0; index < pairs.count(); ++index) {
    const std::uint16_t out_reads = pairs.own(index).out_reads;
    plan_.responder_resources = static_cast<std::uint8_t>(out_reads);
    plan_.initiator_depth = static_cast<std::uint8_t>(out_reads);
    co_await connect_one(pairs.qp(index));
  }
}

live::Task<> PerftestConnections::connect_one(live::QueuePair& qp) {
  for (int attempt = 1;; ++attempt) {
    auto connection = std::make_unique<live::CmConnection>(cm_);
    try {
      co_await connection->connect(qp.qpn(), plan_);
      note(*connection);
      connections_.push_back(std::move(connection));
      co_return;
    } catch (const live::ConnectionRejected& rejected) {
      if (rejected.reason != CmRejReason::invalid_service_id || attempt == kAttempts) throw;
    }
    const Time now = co_await live::this_time{};
    co_await live::until([] { return false; }, now + kBetweenAttempts);
  }
}

live::Task<> PerftestConnections::accept_all(PerftestPairs& pairs, PerftestChannel& channel) {
  for (std::size_t index = 0; index < pairs.count(); ++index) {
    const Time begun = co_await live::this_time{};
    // The next message shows that the client has connected all of its queue pairs.
    const auto is_decided = [&] {
      return connections_.size() > index || channel.has(PerftestKeys::kBinarySize) || channel.is_closed();
    };
    co_await live::until(is_decided, begun + kPerftestSilence);
    if (connections_.size() <= index) {
      throw live::ScriptFailure(fmt::format(
          "the client connected {} of {} queue pairs, and then {}; use the same -q on both sides", index, pairs.count(),
          channel.has(PerftestKeys::kBinarySize) ? "went on"
          : channel.is_closed()                  ? "ended the connection of the handshake"
                                                 : "nothing more came for 10 s"));
    }
    live::CmConnection& connection = *connections_[index];
    const Time now = co_await live::this_time{};
    connection.accept(pairs.qp(index).qpn(), PerftestPairs::kOutReads, kRnrRetries, now);
    note(connection);
  }
  for (std::size_t index = 0; index < pairs.count(); ++index) {
    co_await connections_[index]->established(pairs.qp(index));
  }
}

void PerftestConnections::note(const live::CmConnection& connection) {
  path_mtu_ = to_bytes(connection.get()->agreement().path_mtu);
}

live::Task<> PerftestConnections::disconnect(PerftestRole role) {
  if (role == PerftestRole::server) {
    const auto are_over = [this] {
      return std::ranges::all_of(connections_, [](const auto& connection) { return connection->is_over(); });
    };
    const Time now = co_await live::this_time{};
    co_await live::until(are_over, now + kLinger);
  }
  for (const std::unique_ptr<live::CmConnection>& connection : connections_) co_await connection->disconnect();
}

}  // namespace roce::gen
