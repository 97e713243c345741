// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/perftest_talk.h"

#include "roce/live/clock.h"
#include "roce/live/script.h"

namespace roce::conform {

namespace {

/// The channel of a handshake whose caller waits for each answer.
class TalkChannel final : public PerftestChannel {
 public:
  explicit TalkChannel(TcpTalk& talk) : talk_(talk) {}

  void send(std::string_view message) override {
    if (const live::Result<void> sent = talk_.write(message); !sent) {
      throw live::ScriptFailure("it closed the connection");
    }
  }
  [[nodiscard]] bool has(std::size_t size) override { return talk_.has(size); }
  [[nodiscard]] bool is_closed() override { return talk_.is_closed(); }
  [[nodiscard]] std::string take(std::size_t size) override { return talk_.take(size); }

 private:
  TcpTalk& talk_;
};

live::Task<> converse(PerftestChannel& channel, PerftestKeys own, std::uint32_t path_mtu, int barriers,
                      PerftestIntroduction& learned) {
  const PerftestAgreement agreed = co_await exchange_agreement(channel, PerftestRole::client, path_mtu);
  learned.path_mtu = agreed.path_mtu;
  learned.keys = co_await exchange_keys(channel, PerftestRole::client, own);
  for (int i = 0; i < barriers; ++i) co_await exchange_keys(channel, PerftestRole::client, own);
}

}  // namespace

live::Result<PerftestIntroduction> introduce_perftest(TcpTalk& talk, const PerftestKeys& own, std::uint32_t path_mtu,
                                                      int barriers) {
  PerftestIntroduction learned;
  TalkChannel channel{talk};
  live::Script script{converse(channel, own, path_mtu, barriers, learned)};
  const live::Clock clock;
  while (!script.is_over()) {
    // A step that did nothing waits for the server.
    if (!script.step(clock.now()) && !talk.wait()) return talk.failure("it does not go on with the handshake in time");
  }
  if (!script.error().empty()) return talk.failure(script.error());
  return learned;
}

}  // namespace roce::conform
