// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/local_end.h"

#include <algorithm>

namespace roce::replay {

namespace {

using transport::Access;
using transport::WorkOpcode;

constexpr Access kAllRights = Access::local_write | Access::remote_write | Access::remote_read | Access::remote_atomic |
                              Access::flush_global | Access::flush_persistent;

[[nodiscard]] WorkOpcode opcode_of(const CapturedOperation& operation) {
  switch (operation.operation) {
    case Operation::write:
      return operation.immediate ? WorkOpcode::write_with_immediate : WorkOpcode::write;
    case Operation::read_request:
      return WorkOpcode::read;
    case Operation::compare_swap:
      return WorkOpcode::compare_swap;
    case Operation::fetch_add:
      return WorkOpcode::fetch_add;
    case Operation::atomic_write:
      return WorkOpcode::atomic_write;
    case Operation::flush:
      return WorkOpcode::flush;
    default:
      if (operation.invalidate) return WorkOpcode::send_with_invalidate;
      return operation.immediate ? WorkOpcode::send_with_immediate : WorkOpcode::send;
  }
}

}  // namespace

LocalEnd::LocalEnd(live::Endpoint& endpoint, const Conversation& conversation, const CapturedMemory& memory,
                   std::uint8_t side)
    : conversation_(conversation),
      plan_(plan_end(conversation, side)),
      domain_(endpoint.device()),
      data_(domain_, plan_.data_bytes),
      receives_(domain_, std::max<std::size_t>(1, plan_.receive_bytes * plan_.receives)),
      qp_(endpoint, domain_, {.max_send = kMostRequests, .max_receive = std::max(1U, plan_.receives)}),
      psn_(endpoint.random().psn()) {
  for (const CapturedRegion& region : memory.regions) {
    auto own = std::make_unique<live::Memory>(domain_, region.before.size(), kAllRights, region.is_invalidated);
    std::ranges::copy(region.before, own->bytes().begin());
    regions_.push_back(std::move(own));
  }
  for (std::size_t i = 0; i < conversation.operations.size(); ++i) {
    const CapturedOperation& operation = conversation.operations[i];
    const bool is_sent = operation.operation == Operation::send || operation.operation == Operation::write ||
                         operation.operation == Operation::atomic_write;
    if (operation.side == side && is_sent) {
      std::ranges::copy(operation.data, data_.bytes(plan_.offsets[i], operation.data.size()).begin());
    }
  }
}

Outcome<std::unique_ptr<LocalEnd>> LocalEnd::make(live::Endpoint& endpoint, const Conversation& conversation,
                                                  const CapturedMemory& memory, std::uint8_t side) {
  try {
    std::unique_ptr<LocalEnd> end{new LocalEnd{endpoint, conversation, memory, side}};
    transport::QpChange change{.state = transport::QpState::init, .p_key_index = 0, .port = 1};
    change.access = Access::remote_write | Access::remote_read | Access::remote_atomic | Access::flush_global |
                    Access::flush_persistent;
    end->qp_.modify(change, {}, "move the queue pair to INIT");
    for (std::uint32_t slot = 0; slot < end->plan_.receives; ++slot) {
      end->qp_.post_receive(slot, end->receives_.sge(slot * end->plan_.receive_bytes, end->plan_.receive_bytes));
    }
    return end;
  } catch (const live::ScriptFailure& failure) {
    return failed(failure.what());
  }
}

Outcome<void> LocalEnd::post(std::size_t index, const LivePlace& place) {
  const CapturedOperation& operation = conversation_.operations[index];
  transport::SendRequest request;
  request.wr_id = index;
  request.opcode = opcode_of(operation);
  request.solicited = operation.solicited;
  request.immediate = operation.immediate.value_or(0);
  if (operation.invalidate) request.invalidate = place.r_key;
  request.remote = {.address = place.address, .r_key = place.r_key};
  request.compare_add = operation.compare_add;
  request.swap = operation.swap;
  const transport::Sge sge = data_.sge(plan_.offsets[index], operation.length);
  if (operation.operation == Operation::flush) {
    request.flush = {.length = operation.length, .persistent = operation.flush.persistence};
  } else if (operation.length != 0) {
    request.sges = {&sge, 1};
  }
  try {
    qp_.post_send(request);
  } catch (const live::ScriptFailure& failure) {
    return failed(failure.what());
  }
  return {};
}

void LocalEnd::take_receive(const transport::Completion& completion) {
  if (completion.status != transport::CompletionStatus::success) return;
  ArrivedMessage message;
  message.length = completion.byte_length;
  if (completion.has_immediate) message.immediate = completion.immediate;
  message.is_write = completion.opcode == transport::CompletionOpcode::receive_write_with_immediate;
  const auto slot = static_cast<std::size_t>(completion.wr_id);
  if (!message.is_write) {
    const auto bytes = receives_.bytes(slot * plan_.receive_bytes, completion.byte_length);
    message.data.assign(bytes.begin(), bytes.end());
  }
  arrived.push_back(std::move(message));
  qp_.post_receive(slot, receives_.sge(slot * plan_.receive_bytes, plan_.receive_bytes));
}

Outcome<void> LocalEnd::poll() {
  try {
    while (qp_.has_received()) take_receive(qp_.pop_received());
    while (qp_.has_sent()) {
      const transport::Completion completion = qp_.pop_sent();
      EndedRequest request;
      request.operation = static_cast<std::size_t>(completion.wr_id);
      const CapturedOperation& operation = conversation_.operations[request.operation];
      if (completion.status != transport::CompletionStatus::success) {
        request.error = to_string(completion.status);
      } else {
        const auto bytes = data_.bytes(plan_.offsets[request.operation], operation.length);
        request.data.assign(bytes.begin(), bytes.end());
      }
      ended.push_back(std::move(request));
    }
  } catch (const live::ScriptFailure& failure) {
    return failed(failure.what());
  }
  return {};
}

std::optional<std::uint32_t> LocalEnd::carried_out() const {
  return qp_.attributes().msn.value();
}

LivePlace LocalEnd::place(std::size_t region) const {
  const transport::MrInfo& info = regions_[region]->info();
  return {info.address, info.r_key};
}

Outcome<void> LocalEnd::write_memory(std::size_t region, std::size_t offset, const std::vector<std::byte>& data) {
  std::ranges::copy(data, regions_[region]->bytes(offset, data.size()).begin());
  return {};
}

Outcome<std::vector<std::byte>> LocalEnd::read_memory(std::size_t region) {
  const auto bytes = regions_[region]->bytes();
  return std::vector<std::byte>{bytes.begin(), bytes.end()};
}

}  // namespace roce::replay
