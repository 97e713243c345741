// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/conversation_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/saturating_time.h"

namespace roce::replay {

namespace {

/// Obstacles kept for one connection; any more would be of the same kinds.
constexpr std::size_t kMostObstacles = 20;

/// Makes the operations of a stream out of its messages.
class Builder {
 public:
  Builder(const analysis::StreamSummary& summary, CapturedStream& data, std::uint64_t memory) : data_(data) {
    conversation_.stream = summary.stream;
    conversation_.path_mtu = summary.path_mtu;
    conversation_.naks =
        summary.count(analysis::VerdictKind::nak_sequence_error) + summary.count(analysis::VerdictKind::rnr_nak);
    conversation_.retransmissions = summary.count(analysis::VerdictKind::retransmission);
    if (!summary.joined) refuse("the capture has one direction of it only, or cannot tell which two belong together");
    if (summary.is_open_start) refuse("it had begun before the capture");
    for (const analysis::DirectionSummary& direction : summary.directions) {
      if (!direction.seen && summary.joined) refuse("one of its directions is not in the capture");
    }
    if (summary.missed_psns != 0) refuse(fmt::format("the capture missed {} of its packets", summary.missed_psns));
    if (data.not_kept_from != 0) {
      refuse(fmt::format("from frame {} on it is not read: the connections take more than {} MiB; raise --memory",
                         data.not_kept_from, memory >> 20U));
    }
    std::ranges::stable_sort(data.messages, {}, &analysis::Message::first);
    if (!data.messages.empty()) first_side_ = data.messages.front().direction;
    conversation_.ends = summary.ends;
    for (std::size_t i = 0; i < 2; ++i) conversation_.qpns.at(i) = summary.qpns.at(i).value_or(Qpn{});
    if (first_side_ == 1) {
      std::swap(conversation_.ends[0], conversation_.ends[1]);
      std::swap(conversation_.qpns[0], conversation_.qpns[1]);
    }
  }

  Conversation build() {
    for (const analysis::Message& message : data_.messages) add(message);
    set_times();
    if (conversation_.operations.empty()) refuse("it has no request that is whole");
    return std::move(conversation_);
  }

 private:
  void refuse(std::string why) {
    if (conversation_.obstacles.size() < kMostObstacles) conversation_.obstacles.push_back(std::move(why));
  }

  void add(const analysis::Message& message) {
    CapturedRequester& side = data_.sides.at(message.direction);
    const std::string name = fmt::format("the {} in frame {}", to_string(message.type), message.first.frame);
    const auto known = side.psns.find(message.first);
    if (known != side.psns.end() && known->second < refused_until_.at(message.direction)) return;
    if (!message.start_seen || known == side.psns.end()) {
      return refuse(fmt::format("the beginning of {} is not in the capture", name));
    }
    const std::int64_t first = known->second;
    const auto begin = side.requests.find(first);
    if (begin == side.requests.end()) return refuse(fmt::format("{} is damaged in the capture", name));
    CapturedOperation operation;
    operation.side = message.direction == first_side_ ? 0 : 1;
    operation.frame = message.first.frame;
    operation.start = operation.arrival = begin->second.time;
    operation.end = message.end;
    if (message.answer) operation.finish = message.finish;
    if (message.end == analysis::MessageEnd::incomplete) refuse(fmt::format("{} is not whole in the capture", name));
    take_headers(operation, begin->second);
    const std::size_t obstacles = conversation_.obstacles.size();
    if (operation.operation == Operation::read_request) {
      take_answer(operation, side, first, message, name);
    } else if (operation.operation == Operation::compare_swap || operation.operation == Operation::fetch_add) {
      take_atomic_answer(operation, side, first, name);
    } else {
      take_payload(operation, side, first, message, name);
    }
    if (conversation_.obstacles.size() == obstacles) {
      if (const std::string why = contradiction_in(operation); !why.empty()) refuse(fmt::format("{} {}", name, why));
    }
    conversation_.operations.push_back(std::move(operation));
  }

  static void take_headers(CapturedOperation& operation, const CapturedRequestPiece& piece) {
    operation.operation = piece.operation;
    operation.solicited = piece.bth.solicited;
    if (piece.reth) {
      operation.remote_address = piece.reth->virtual_address;
      operation.r_key = piece.reth->r_key;
      operation.length = piece.reth->dma_length;
    }
    if (piece.atomic) {
      operation.remote_address = piece.atomic->virtual_address;
      operation.r_key = piece.atomic->r_key;
      operation.length = kAtomicBytes;
      operation.compare_add =
          piece.operation == Operation::compare_swap ? piece.atomic->compare : piece.atomic->swap_or_add;
      operation.swap = piece.operation == Operation::compare_swap ? piece.atomic->swap_or_add : 0;
    }
    if (piece.flush) operation.flush = *piece.flush;
  }

  void take_payload(CapturedOperation& operation, const CapturedRequester& side, std::int64_t first,
                    const analysis::Message& message, const std::string& name) {
    bool is_cut = false;
    std::int64_t end = first + message.psn_count;
    if (message.end == analysis::MessageEnd::refused) {
      // Packets that were already under way after the refused one.
      for (auto next = side.requests.find(end); next != side.requests.end() && next->second.continues; ++end, ++next) {
        if (next->first != end) break;
      }
      refused_until_.at(message.direction) = end;
    }
    for (std::int64_t psn = first; psn < end; ++psn) {
      const auto found = side.requests.find(psn);
      if (found == side.requests.end()) return refuse(fmt::format("a packet of {} is missing or damaged", name));
      const CapturedRequestPiece& piece = found->second;
      operation.data.insert(operation.data.end(), piece.payload.begin(), piece.payload.end());
      is_cut = is_cut || piece.payload.size() < piece.payload_length;
      operation.arrival = std::max(operation.arrival, piece.time);
      operation.solicited = operation.solicited || piece.bth.solicited;
      if (piece.immediate) operation.immediate = piece.immediate->data;
      if (piece.invalidate) operation.invalidate = piece.invalidate->r_key;
    }
    if (is_cut) return refuse(fmt::format("the payload of {} is cut short by the snap length", name));
    if (operation.operation == Operation::send) operation.length = static_cast<std::uint32_t>(operation.data.size());
  }

  void take_answer(CapturedOperation& operation, const CapturedRequester& side, std::int64_t first,
                   const analysis::Message& message, const std::string& name) {
    if (message.end == analysis::MessageEnd::refused) return;
    for (std::int64_t psn = first; psn < first + message.psn_count && operation.data.size() < operation.length; ++psn) {
      const auto found = side.answers.find(psn);
      if (found == side.answers.end()) break;
      operation.data.insert(operation.data.end(), found->second.payload.begin(), found->second.payload.end());
      if (found->second.payload.size() < found->second.payload_length) break;
    }
    if (operation.data.size() == operation.length) return;
    operation.data.clear();
    refuse(fmt::format("the data that came back for {} are not in the capture", name));
  }

  void take_atomic_answer(CapturedOperation& operation, const CapturedRequester& side, std::int64_t first,
                          const std::string& name) {
    if (operation.end == analysis::MessageEnd::refused) return;
    const auto found = side.answers.find(first);
    if (found == side.answers.end()) return refuse(fmt::format("the answer to {} is not in the capture", name));
    operation.data = found->second.payload;
  }

  [[nodiscard]] static bool comes_to(std::uint8_t side, const CapturedOperation& operation) {
    return operation.side != side && operation.is_message() && operation.end != analysis::MessageEnd::refused;
  }

  void set_times() {
    std::vector<CapturedOperation>& operations = conversation_.operations;
    std::ranges::stable_sort(operations, {}, &CapturedOperation::start);
    if (!operations.empty()) conversation_.start = operations.front().start;
    for (std::uint8_t side = 0; side < 2; ++side) {
      std::vector<Time> finished;
      std::vector<Time> arrived;
      for (const CapturedOperation& operation : operations) {
        if (operation.side == side) finished.push_back(operation.finish);
        if (comes_to(side, operation)) arrived.push_back(operation.arrival);
      }
      std::ranges::sort(finished);
      std::ranges::sort(arrived);
      const auto count_until = [](const std::vector<Time>& times, std::size_t from, Time until) {
        while (from < times.size() && times[from] <= until) ++from;
        return from;
      };
      std::size_t completed = 0;
      std::size_t messages = 0;
      // While the clock stands still, a request must not wait for itself, or for a request that waits for it.
      std::size_t own_before = 0;
      std::size_t others_before = 0;
      Time latest = conversation_.start;
      for (CapturedOperation& operation : operations) {
        if (comes_to(side, operation)) ++others_before;
        if (operation.side != side) continue;
        completed = std::min(count_until(finished, completed, operation.start), own_before++);
        messages = std::min(count_until(arrived, messages, operation.start), others_before);
        operation.after_completed = completed;
        operation.after_arrived = messages;
        if (completed != 0) latest = std::max(latest, finished[completed - 1]);
        if (messages != 0) latest = std::max(latest, arrived[messages - 1]);
        operation.think = between(latest, operation.start);
        latest = operation.start;
      }
    }
  }

  CapturedStream& data_;
  Conversation conversation_;
  std::uint8_t first_side_ = 0;
  std::array<std::int64_t, 2> refused_until_{};  // by direction of the stream: the PSN after a refused message
};

}  // namespace

Conversation build_conversation(const analysis::StreamSummary& summary, CapturedStream& data, std::uint64_t memory) {
  return Builder{summary, data, memory}.build();
}

}  // namespace roce::replay
