// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/ucmatose.h"

#include <fmt/format.h>

namespace roce::gen {

namespace {

constexpr std::uint8_t kRetryCount = 5;
constexpr std::uint8_t kRnrRetryCount = 0;

/// A queue pair with all receives posted: the peer does not retry if one is missing (its RNR retry count is 0).
class Side {
 public:
  Side(live::RdmaCm& cm, MessageOptions options, Time now)
      : options_(options),
        domain_(cm.endpoint().device()),
        memory_(domain_, std::size_t{2} * options.size),
        qp_(cm.endpoint(), domain_, {.max_send = options.count, .max_receive = options.count}) {
    prepare(qp_, now);
    for (std::uint32_t i = 0; i < options.count; ++i) qp_.post_receive(i, memory_.sge(options.size, options.size));
  }

  [[nodiscard]] live::QueuePair& qp() { return qp_; }

  live::Task<> send(live::CmConnection& connection) {
    const transport::Sge sge = memory_.sge(0, options_.size);
    for (std::uint32_t i = 0; i < options_.count; ++i) {
      transport::SendRequest request;
      request.wr_id = i;
      request.sges = {&sge, 1};
      qp_.post_send(request);
    }
    for (std::uint32_t i = 0; i < options_.count; ++i) {
      co_await connection.sent(qp_);
    }
  }

  live::Task<> receive(const live::CmConnection& connection, ProgramReport& report) {
    for (std::uint32_t i = 0; i < options_.count; ++i) {
      co_await live::until([&] { return qp_.has_received() || connection.is_over(); });
      if (!qp_.has_received()) {
        throw live::ScriptFailure(
            fmt::format("the peer ended the connection after {} of {} messages", i, options_.count));
      }
      const transport::Completion completion = qp_.take_received();
      if (completion.byte_length != options_.size) {
        throw live::ScriptFailure(fmt::format("a message of {} bytes came, expected {}; use the same -S on both sides",
                                              completion.byte_length, options_.size));
      }
      ++report.messages;
      report.bytes += options_.size;
    }
  }

 private:
  MessageOptions options_;
  live::Domain domain_;
  live::Memory memory_;  // sent, then received
  live::QueuePair qp_;
};

}  // namespace

live::Task<> ucmatose_server(live::RdmaCm& cm, CommId wanted, MessageOptions options, ProgramReport& report) {
  const Time now = co_await live::this_time{};
  Side side{cm, options, now};
  live::CmConnection connection{cm, wanted};
  connection.accept(side.qp().qpn(), 1, kRnrRetryCount, now);
  co_await connection.established(side.qp());
  report.begun = co_await live::this_time{};
  co_await side.send(connection);
  co_await side.receive(connection, report);
  report.ended = co_await live::this_time{};
  report.counters = side.qp().counters();
  co_await connection.disconnect();
}

live::Task<> ucmatose_client(live::RdmaCm& cm, live::ConnectPlan plan, MessageOptions options, ProgramReport& report) {
  const Time now = co_await live::this_time{};
  Side side{cm, options, now};
  live::CmConnection connection{cm};
  plan.retry_count = kRetryCount;
  plan.rnr_retry_count = kRnrRetryCount;
  co_await connection.connect(side.qp().qpn(), plan);
  report.begun = co_await live::this_time{};
  co_await side.receive(connection, report);
  co_await side.send(connection);
  report.ended = co_await live::this_time{};
  report.counters = side.qp().counters();
  co_await live::until([&] { return connection.is_over(); });
}

}  // namespace roce::gen
