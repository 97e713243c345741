// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/rdma_channel.h"

#include <algorithm>
#include <span>

namespace roce::gen {

namespace {

/// perftest's messages are not longer; a longer one breaks the connection.
constexpr std::uint32_t kSlotBytes = 256;
/// A peer that keeps to the protocol is never more than one message ahead, and neither are we.
constexpr std::uint32_t kSlots = 4;

}  // namespace

RdmaPerftestChannel::RdmaPerftestChannel(live::RdmaCm& cm, Time now)
    : cm_(cm),
      domain_(cm.endpoint().device()),
      memory_(domain_, std::size_t{2} * kSlots * kSlotBytes),
      qp_(cm.endpoint(), domain_, {.max_send = kSlots, .max_receive = kSlots}) {
  prepare(qp_, now);
  for (std::size_t slot = 0; slot < kSlots; ++slot) post_receive(slot);
}

live::Task<> RdmaPerftestChannel::connect(live::ConnectPlan plan) {
  connection_.emplace(cm_);
  co_await connection_->connect(qp_.qpn(), plan);
}

live::Task<> RdmaPerftestChannel::accept(CommId wanted) {
  connection_.emplace(cm_, wanted);
  const Time now = co_await live::this_time{};
  connection_->accept(qp_.qpn(), 0, 7, now);
  co_await connection_->established(qp_);
}

void RdmaPerftestChannel::post_receive(std::size_t slot) {
  qp_.post_receive(slot, memory_.sge((kSlots + slot) * kSlotBytes, kSlotBytes));
}

void RdmaPerftestChannel::poll() {
  try {
    while (qp_.has_sent()) {
      (void)qp_.take_sent();
      --under_way_;
    }
    while (qp_.has_received()) {
      const transport::Completion completion = qp_.take_received();
      // The data of a WRITE with immediate is not in the slot.
      if (completion.opcode != transport::CompletionOpcode::receive || completion.byte_length > kSlotBytes) {
        throw live::ScriptFailure("the peer sent what is no message");
      }
      received_.push_back({.slot = completion.wr_id, .bytes = completion.byte_length});
    }
  } catch (const live::ScriptFailure&) {
    // A caller that waits for a message finds the channel closed.
    broken_ = true;
  }
}

void RdmaPerftestChannel::send(std::string_view message) {
  if (is_closed()) throw live::ScriptFailure("the peer closed the connection while we wrote to it");
  if (under_way_ == kSlots) throw live::ScriptFailure("the peer does not take our messages");
  const std::size_t offset = sent_ % kSlots * kSlotBytes;
  std::ranges::copy(std::as_bytes(std::span{message}), memory_.bytes(offset, message.size()).begin());
  const transport::Sge sge = memory_.sge(offset, message.size());
  transport::SendRequest request;
  request.sges = {&sge, 1};
  qp_.post_send(request);
  ++sent_;
  ++under_way_;
}

bool RdmaPerftestChannel::has(std::size_t /*size*/) {
  poll();
  return !received_.empty();
}

bool RdmaPerftestChannel::is_closed() {
  poll();
  return broken_ || connection_->is_over();
}

std::string RdmaPerftestChannel::take(std::size_t /*size*/) {
  if (received_.empty()) return {};
  const Received next = received_.front();
  received_.pop_front();
  const std::span<const std::byte> bytes = memory_.bytes((kSlots + next.slot) * kSlotBytes, next.bytes);
  std::string message;
  for (const std::byte byte : bytes) message.push_back(static_cast<char>(byte));
  post_receive(next.slot);
  return message;
}

}  // namespace roce::gen
