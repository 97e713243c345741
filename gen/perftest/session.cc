// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/session.h"

#include <fmt/format.h>

#include "gen/perftest/data.h"
#include "gen/perftest/pairs.h"
#include "perftest/handshake.h"

namespace roce::gen {

namespace {

/// How long the peer may repeat its last message because our acknowledgement was lost, unless it closes the channel.
constexpr Duration kLinger = std::chrono::seconds{1};

/// Puts the counters into the report at the end, even if the exchange fails.
class CountersAtEnd {
 public:
  CountersAtEnd(const PerftestPairs& pairs, PerftestReport& report) : pairs_(pairs), report_(report) {}
  ~CountersAtEnd() { report_.counters = pairs_.counters(); }
  CountersAtEnd(const CountersAtEnd&) = delete;
  CountersAtEnd& operator=(const CountersAtEnd&) = delete;

 private:
  const PerftestPairs& pairs_;
  PerftestReport& report_;
};

/// Exchanges the keys of all queue pairs, and connects those that RDMA CM has not connected.
[[nodiscard]] live::Task<> connect_pairs(PerftestRun& run) {
  for (std::size_t index = 0; index < run.pairs.count(); ++index) {
    const PerftestKeys remote = co_await exchange_keys(run.channel, run.role, run.pairs.own(index));
    const Time now = co_await live::this_time{};
    if (run.connections != nullptr) {
      run.pairs.learn(index, remote);
    } else {
      run.pairs.connect(index, remote, now);
    }
  }
}

/// Waits until the peer is as far as we are. Its keys are known, so those that come again are ignored.
[[nodiscard]] live::Task<> pass_barrier(PerftestRun& run, std::size_t index = 0) {
  co_await exchange_keys(run.channel, run.role, run.pairs.own(index));
}

/// Connects the queue pairs by RDMA CM.
[[nodiscard]] live::Task<> connect_by_cm(PerftestRun& run) {
  // A client may connect as soon as it has our part of the barrier.
  run.connections->expect(run.pairs.count());
  co_await pass_barrier(run);
  co_await run.connections->connect(run.pairs, run.role, run.channel);
  run.report.path_mtu = run.connections->path_mtu();
  co_await pass_barrier(run);
}

[[nodiscard]] live::Task<> set_up(PerftestRun& run) {
  if (run.connections != nullptr) co_await connect_by_cm(run);
  const bool latency = measures_latency(run.options.program);
  if (latency) co_await pass_barrier(run);
  co_await connect_pairs(run);
  if (run.options.program == PerftestProgram::send_bw) co_await pass_barrier(run);
  for (std::size_t index = 0; index < run.pairs.count(); ++index) co_await pass_barrier(run, index);
  co_await pass_barrier(run);
}

[[nodiscard]] live::Task<> tell_figures(PerftestRun& run) {
  PerftestFigures own;
  if (run.role == PerftestRole::client) {
    own.size = run.options.size;
    own.messages = run.report.messages;
    own.average_mib = mib_per_second(run.report);
    own.mega_messages = messages_per_second(run.report) / 1e6;
  }
  const PerftestFigures theirs = co_await exchange_figures(run.channel, run.role, own);
  if (run.role == PerftestRole::client) co_return;
  if (theirs.size != run.options.size) {
    throw live::ScriptFailure(fmt::format("the peer's messages had {} bytes, not {}; use the same -s on both sides",
                                          theirs.size, run.options.size));
  }
  co_await await_perftest_requests(run, theirs.messages);
}

[[nodiscard]] live::Task<> tear_down(PerftestRun& run) {
  // ib_write_lat ends with its last message.
  if (run.options.program != PerftestProgram::write_lat) {
    if (!measures_latency(run.options.program) && verb_of(run.options.program) != PerftestVerb::send) {
      co_await pass_barrier(run);
      co_await tell_figures(run);
    }
    co_await pass_barrier(run);
    run.channel.say_done();
  }
  if (run.connections != nullptr) co_await run.connections->disconnect(run.role);
  const Time now = co_await live::this_time{};
  co_await live::until([&run] { return run.channel.is_closed(); }, now + kLinger);
}

}  // namespace

live::Task<> run_perftest(live::Endpoint& endpoint, const PerftestOptions& options, PerftestRole role,
                          PerftestChannel& channel, PerftestReport& report, PerftestConnections* connections) {
  report.size = options.size;
  report.qps = options.qps;
  const PerftestAgreement agreed = co_await exchange_agreement(channel, role, options.path_mtu);
  report.version = agreed.version;
  report.path_mtu = agreed.path_mtu;
  PerftestPairs pairs{endpoint, options, agreed};
  const CountersAtEnd counters{pairs, report};
  PerftestRun run{.endpoint = endpoint,
                  .options = options,
                  .role = role,
                  .channel = channel,
                  .pairs = pairs,
                  .report = report,
                  .connections = connections};
  post_perftest_receives(run);
  co_await set_up(run);
  report.begun = endpoint.now();
  co_await run_perftest_data(run);
  report.ended = endpoint.now();
  co_await tear_down(run);
}

}  // namespace roce::gen
