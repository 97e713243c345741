// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/nvme_figures.h"

#include <algorithm>
#include <tuple>

namespace roce::analyze {

using analysis::NvmeEnd;
using analysis::NvmeExchange;

namespace {

bool is_slower_command(const NvmeExchange& a, const NvmeExchange& b) {
  return std::tuple{a.latency(), b.capsule} > std::tuple{b.latency(), a.capsule};
}

}  // namespace

void NvmeOperationFigures::add(const NvmeOperationFigures& other) {
  commands += other.commands;
  bytes += other.bytes;
  retransmissions += other.retransmissions;
  latency.merge(other.latency);
  until_data.merge(other.until_data);
  data.merge(other.data);
  until_response.merge(other.until_response);
}

NvmeOperationFigures NvmeQueueFigures::all() const {
  NvmeOperationFigures sum;
  for (const auto& [operation, figures] : operations) sum.add(figures);
  return sum;
}

void NvmeFigures::add(const NvmeExchange& exchange, bool is_admin) {
  NvmeQueueFigures& queue = queues_[exchange.queue];
  const NvmeOperation operation = exchange.command.operation(is_admin);
  const NvmeOperation key = exchange.command.operation(false);
  const auto found = queue.operations.find(key);
  if (found == queue.operations.end() && operations_ == kMostOperations) {
    ++uncounted_;
    return;
  }
  if (found == queue.operations.end()) ++operations_;
  NvmeOperationFigures& figures = queue.operations[key];
  ++figures.commands;
  figures.bytes += exchange.data_bytes;
  figures.retransmissions += exchange.retransmissions;
  if (exchange.retransmissions != 0) ++queue.resent_commands;
  add_status(queue, exchange);
  if (operation == nvme::kAsynchronousEventRequest) {
    if (exchange.end != NvmeEnd::answered) ++queue.event_requests;
    return;
  }
  ++queue.ends[static_cast<std::size_t>(exchange.end)];
  if (exchange.end == NvmeEnd::unanswered && (!queue.first_unanswered || exchange.capsule < queue.first_unanswered)) {
    queue.first_unanswered = exchange.capsule;
  }
  if (exchange.end == NvmeEnd::answered || exchange.end == NvmeEnd::unanswered) keep_slowest(exchange);
  if (exchange.end != NvmeEnd::answered) return;
  if (!queue.slowest.capsule || exchange.latency() > queue.slowest.latency()) queue.slowest = exchange;
  ++queue.delays[static_cast<std::size_t>(exchange.delay)];
  figures.latency.add(exchange.latency());
  figures.until_response.add(exchange.until_response());
  if (!exchange.has_data()) return;
  figures.until_data.add(exchange.until_data());
  figures.data.add(exchange.data());
}

void NvmeFigures::add_status(NvmeQueueFigures& figures, const NvmeExchange& exchange) {
  if (exchange.end != NvmeEnd::answered || exchange.status.is_success()) return;
  const NvmeStatusKey key{exchange.status.type, exchange.status.code, exchange.command.is_fabrics()};
  if (figures.statuses.size() == kMostStatuses && !figures.statuses.contains(key)) {
    ++figures.other_statuses;
    return;
  }
  NvmeStatusFigures& status = figures.statuses[key];
  if (status.count++ == 0) status.first = exchange.response;
}

void NvmeFigures::keep_slowest(const NvmeExchange& exchange) {
  if (top_ == 0) return;
  slowest_.push_back(exchange);
  std::push_heap(slowest_.begin(), slowest_.end(), &is_slower_command);
  if (slowest_.size() <= top_) return;
  std::pop_heap(slowest_.begin(), slowest_.end(), &is_slower_command);
  slowest_.pop_back();
}

const NvmeQueueFigures& NvmeFigures::of(std::uint32_t queue) const {
  static const NvmeQueueFigures kNone;
  const auto found = queues_.find(queue);
  return found == queues_.end() ? kNone : found->second;
}

std::vector<NvmeExchange> NvmeFigures::slowest() const {
  std::vector<NvmeExchange> sorted = slowest_;
  std::sort_heap(sorted.begin(), sorted.end(), &is_slower_command);
  return sorted;
}

}  // namespace roce::analyze
