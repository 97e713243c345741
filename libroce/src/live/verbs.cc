// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/verbs.h"

#include <fmt/format.h>

#include <array>

namespace roce::live {

namespace {

/// Bit that marks the work request of a receive; the completion of a failed one shows this in no other way.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 63;

}  // namespace

Memory::Memory(const Domain& domain, std::size_t bytes, transport::Access access, bool invalidatable)
    : device_(domain.device()), bytes_(bytes) {
  mr_ = granted(
      device_.register_memory(domain.pd(), {.memory = bytes_, .access = access, .invalidatable = invalidatable}),
      "register memory");
  info_ = *device_.query_mr(mr_);
}

QueuePair::QueuePair(Endpoint& endpoint, const Domain& domain, const Options& options) : device_(domain.device()) {
  cq_ = granted(device_.create_cq(options.max_send + options.max_receive), "make a completion queue");
  transport::QpInit init;
  init.type = options.type;
  init.pd = domain.pd();
  init.send_cq = init.receive_cq = cq_;
  init.max_send = options.max_send;
  init.max_receive = options.max_receive;
  try {
    qpn_ = granted(device_.create_qp(init), "make a queue pair");
  } catch (const ScriptFailure&) {
    (void)device_.destroy_cq(cq_);
    throw;
  }
  endpoint.adopt(qpn_);
}

QueuePair::~QueuePair() {
  (void)device_.destroy_qp(qpn_);
  (void)device_.destroy_cq(cq_);
}

transport::QpAttributes QueuePair::attributes() const {
  return *device_.query_qp(qpn_);
}

transport::Counters QueuePair::counters() const {
  return *device_.counters(qpn_);
}

void QueuePair::modify(const transport::QpChange& change, Time now, std::string_view what) {
  granted(device_.modify_qp(qpn_, change, now), what);
}

void QueuePair::post_send(const transport::SendRequest& request) {
  granted(device_.post_send(qpn_, request), fmt::format("post a {}", to_string(request.opcode)));
}

void QueuePair::post_receive(std::uint64_t wr_id, const transport::Sge& sge) {
  granted(device_.post_receive(qpn_, {.wr_id = wr_id | kReceive, .sges = {&sge, 1}}), "post a receive");
}

void QueuePair::poll() {
  std::array<transport::Completion, 32> completions;
  for (std::size_t count = completions.size(); count == completions.size();) {
    count = device_.poll_cq(cq_, completions);
    for (transport::Completion& completion : std::span{completions}.first(count)) {
      const bool is_receive = (completion.wr_id & kReceive) != 0;
      completion.wr_id &= ~kReceive;
      (is_receive ? received_ : sent_).push_back(completion);
    }
  }
}

transport::Completion QueuePair::pop(std::deque<transport::Completion>& from) {
  const transport::Completion completion = from.front();
  from.pop_front();
  return completion;
}

transport::Completion QueuePair::take(std::deque<transport::Completion>& from, std::string_view what) {
  const transport::Completion completion = pop(from);
  if (completion.status == transport::CompletionStatus::success) return completion;
  throw ScriptFailure(
      fmt::format("a {} of QP 0x{:06x} ended with: {}", what, completion.qpn.value(), to_string(completion.status)));
}

}  // namespace roce::live
