// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/nvme_queue.h"

#include <algorithm>
#include <utility>

namespace roce::analysis {

namespace {

/// So many later responses show that a response is not sent again any more.
constexpr std::size_t kSettled = 64;
constexpr std::size_t kMostHoles = 256;
/// A command of a queue of which nothing was answered has waited for long then.
constexpr Duration kLongWait{1'000'000'000};

const Verdict* retransmission_of(const PacketAnalysis& analysis) {
  const auto found = std::ranges::find(analysis.verdicts, VerdictKind::retransmission, &Verdict::kind);
  return found == analysis.verdicts.end() ? nullptr : &*found;
}

bool is_copy(const PacketAnalysis& analysis) {
  return std::ranges::find(analysis.verdicts, VerdictKind::duplicate, &Verdict::kind) != analysis.verdicts.end();
}

template <typename T>
void keep_last(std::deque<T>& all, const T& latest) {
  if (all.size() == kMostHoles) all.pop_front();
  all.push_back(latest);
}

bool begins_here(const Observation& seen) {
  return seen.info().position == Position::first || seen.info().position == Position::only;
}

bool ends_here(const Observation& seen) {
  const bool is_answered_by_many = seen.info().operation == Operation::read_request;
  return !is_answered_by_many && (seen.info().position == Position::last || seen.info().position == Position::only);
}

NvmeSpans::Span span_of(std::int64_t psn, const Observation& seen, std::uint64_t command) {
  return {.first = psn,
          .next = psn + 1,
          .command = command,
          .operation = seen.info().operation,
          .is_whole = ends_here(seen)};
}

void extend(NvmeSpans::Span& span, std::int64_t psn, const Observation& seen) {
  span.next = std::max(span.next, psn + 1);
  span.is_whole = span.is_whole || ends_here(seen);
}

}  // namespace

bool NvmeQueueFollower::observe(const Packet& packet, const Observation& seen, const PacketAnalysis& analysis) {
  if (seen.icrc_bad || is_copy(analysis)) return false;
  const bool is_to_target = analysis.direction == summary_.host_direction;
  std::optional<Qpn>& receiver = is_to_target ? summary_.target_qp : summary_.host_qp;
  if (!receiver && seen.info().operation != Operation::cnp) receiver = seen.dest_qp;
  if (!is_to_target) target_was_seen_ = true;
  const Verdict* const resent = retransmission_of(analysis);
  const Operation operation = seen.info().operation;
  // A READ whose answer was seen is asked for again if that did not arrive.
  const bool is_spurious = resent != nullptr && resent->spurious && operation != Operation::read_request;
  const Part part{.packet = packet,
                  .seen = seen,
                  .psn = analysis.relative_psn,
                  .is_resent = resent != nullptr,
                  .is_spurious = is_spurious,
                  .is_needed = resent != nullptr && (resent->cause == Cause::nak || resent->cause == Cause::rnr),
                  .was_unseen = resent != nullptr && !resent->other};
  if (analysis.role == PacketRole::response) {
    if (is_to_target && operation == Operation::read_response) on_host_data(part);
    return false;
  }
  if (analysis.role != PacketRole::request) return false;
  Time& last = last_request_[analysis.direction];
  if (resent != nullptr && !is_spurious) note_recovery(*resent, part, last);
  last = seen.time;
  if (is_to_target) return operation == Operation::send && on_command(part);
  if (part.is_resent || part.psn < latest_psn_) keep_last(resent_, Hole{part.psn, seen.time});
  if (part.psn > latest_psn_) latest_wire_psn_ = seen.psn;
  latest_psn_ = std::max(latest_psn_, part.psn);
  if (operation == Operation::send) {
    on_response(part);
  } else if (operation == Operation::write || operation == Operation::read_request) {
    on_target_data(part);
  }
  return false;
}

bool NvmeQueueFollower::on_command(const Part& part) {
  if (begins_here(part.seen)) {
    const NvmeSpans::Span* const known = of_host_.starting_at(part.psn);
    if (known == nullptr) return begin_command(part);
    if (Command* const command = find(known->command); command != nullptr && part.is_resent) {
      ++command->exchange.retransmissions;
    }
    return false;
  }
  NvmeSpans::Span* const span = of_host_.holding(part.psn, Operation::send);
  if (span == nullptr) return false;
  const bool is_new = part.psn >= span->next || part.was_unseen;
  extend(*span, part.psn, part.seen);
  Command* const command = find(span->command);
  if (command == nullptr) return false;
  NvmeExchange& exchange = command->exchange;
  if (part.is_resent) ++exchange.retransmissions;
  if (!part.is_spurious) command->capsule_end = std::max(command->capsule_end, part.seen.time);
  if (exchange.command.data_place == NvmeDataPlace::in_capsule && exchange.has_data()) {
    if (is_new) exchange.data_bytes += part.seen.payload_length;
    if (!part.is_spurious) {
      exchange.last_data = part.seen.id;
      exchange.last_data_time = std::max(exchange.last_data_time, part.seen.time);
    }
  }
  return false;
}

bool NvmeQueueFollower::begin_command(const Part& part) {
  const std::optional<NvmeCommand> read = NvmeCommand::read(part.packet.payload());
  if (!read) {
    const bool is_cut = part.seen.payload_length >= NvmeCommand::kBytes;
    ++(is_cut ? summary_.cut_capsules : summary_.strange_messages);
    return false;
  }
  if (const auto before = by_id_.find(read->command_id); before != by_id_.end()) {
    report(before->second, NvmeEnd::missed, part.seen.time);
  }
  // Messages of old commands give way to a new command.
  if (room_.left == 0 && !of_host_.give_way(room_) && !of_target_.give_way(room_)) {
    ++room_.uncounted;
    return false;
  }
  --room_.left;
  const std::uint64_t serial = next_serial_++;
  Command& command = commands_[serial];
  command.capsule_end = part.seen.time;
  NvmeExchange& exchange = command.exchange;
  exchange.queue = index_;
  exchange.command = *read;
  exchange.capsule = part.seen.id;
  exchange.start = exchange.finish = part.seen.time;
  exchange.retransmissions = part.is_resent ? 1 : 0;
  by_id_[read->command_id] = serial;
  if (read->data_place == NvmeDataPlace::host_memory && read->data_length != 0) {
    by_memory_[{read->data_key, read->data_address}] = serial;
  } else if (read->data_place == NvmeDataPlace::in_capsule && read->data_length != 0 &&
             (part.seen.payload_length > NvmeCommand::kBytes || part.seen.info().position == Position::first)) {
    exchange.first_data = exchange.last_data = part.seen.id;
    exchange.first_data_time = exchange.last_data_time = part.seen.time;
    exchange.data_bytes = part.seen.payload_length - std::min<std::uint32_t>(part.seen.payload_length, 64);
  }
  ++summary_.commands;
  learn_from(*read, part);
  command.is_counted = !waits_for_events(*read);
  if (command.is_counted) depth_.add(part.seen.time);
  of_host_.add(span_of(part.psn, part.seen, serial), room_);
  return true;
}

void NvmeQueueFollower::learn_from(const NvmeCommand& command, const Part& part) {
  const NvmeOperation operation = command.operation(true);
  if (const std::optional<NvmeConnect> connect = NvmeConnect::read(part.packet.payload())) {
    summary_.queue_id = connect->queue_id;
    summary_.size = connect->queue_size;
    summary_.is_admin = connect->queue_id == 0;
    summary_.keep_alive_timeout = Duration{std::int64_t{connect->keep_alive_ms} * 1'000'000};
    if (summary_.is_admin) last_keep_alive_ = part.seen.time;
    return;
  }
  if (!summary_.queue_id) {
    // I/O command sets have List and Cancel with the numbers of Identify and Keep Alive, but for a namespace.
    const bool is_of_controller =
        command.namespace_id == 0 && (operation == nvme::kIdentify || operation == nvme::kKeepAlive);
    summary_.is_admin = summary_.is_admin || is_of_controller || operation == nvme::kGetFeatures ||
                        operation == nvme::kPropertyGet || operation == nvme::kPropertySet;
  }
  if (summary_.is_admin && operation == nvme::kKeepAlive) {
    ++summary_.keep_alives;
    note_keep_alive(part.seen.time);
    last_keep_alive_ = part.seen.time;
  }
}

void NvmeQueueFollower::note_keep_alive(Time time) {
  if (!last_keep_alive_) return;
  summary_.longest_keep_alive_gap = std::max(summary_.longest_keep_alive_gap, time - *last_keep_alive_);
}

void NvmeQueueFollower::on_response(const Part& part) {
  if (!begins_here(part.seen)) return;
  const NvmeSpans::Span* const known = of_target_.starting_at(part.psn);
  if (known == nullptr) return begin_response(part);
  Command* const command = find(known->command);
  if (command == nullptr || !part.is_resent) return;
  ++command->exchange.retransmissions;
  if (part.is_spurious) return;
  command->later_response = part.seen.id;
  command->later_time = part.seen.time;
  if (part.is_needed) {
    take_later(*command);
  } else {
    judge_later(*command);
  }
}

void NvmeQueueFollower::judge_later(Command& command) {
  const bool was_refused = std::ranges::any_of(holes_, [&](const Hole& hole) {
    return hole.psn <= command.response_psn && command.exchange.finish < hole.filled;
  });
  if (command.later_response && was_refused) take_later(command);
}

void NvmeQueueFollower::take_later(Command& command) {
  command.exchange.response = command.later_response;
  command.exchange.finish = command.later_time;
  command.later_response = {};
}

void NvmeQueueFollower::observe(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::missed_by_capture) last_missed_ = std::max(last_missed_, verdict.time);
  const bool is_loss = verdict.kind == VerdictKind::request_lost_after ||
                       verdict.kind == VerdictKind::request_lost_before || verdict.kind == VerdictKind::unexplained;
  if (!is_loss) return;
  constexpr std::int64_t kSpace = std::int64_t{1} << 24U;
  std::int64_t since = (std::int64_t{verdict.first_psn.value()} - latest_wire_psn_.value()) % kSpace;
  if (since > kSpace / 2) since -= kSpace;
  if (since < -kSpace / 2) since += kSpace;
  // A verdict does not say whose request it is about: one of the target was sent again.
  const auto filled = std::ranges::find_if(
      resent_, [&](const Hole& each) { return each.psn == latest_psn_ + since && each.filled >= verdict.time; });
  if (filled == resent_.end()) return;
  keep_last(holes_, *filled);
  for (const std::uint64_t serial : answered_) {
    if (Command* const command = find(serial)) judge_later(*command);
  }
}

void NvmeQueueFollower::begin_response(const Part& part) {
  const std::optional<NvmeCompletion> read = NvmeCompletion::read(part.packet.payload());
  if (!read || part.seen.payload_length != NvmeCompletion::kBytes) {
    const bool is_cut = part.seen.payload_length == NvmeCompletion::kBytes;
    ++(is_cut ? summary_.cut_capsules : summary_.strange_messages);
    return;
  }
  const auto found = by_id_.find(read->command_id);
  Command* const command = found == by_id_.end() ? nullptr : find(found->second);
  if (command == nullptr || command->exchange.response) {
    ++summary_.responses_without_command;
    return;
  }
  NvmeExchange& exchange = command->exchange;
  exchange.end = NvmeEnd::answered;
  exchange.status = read->status;
  exchange.response = part.seen.id;
  exchange.finish = part.seen.time;
  command->response_psn = part.psn;
  if (part.is_resent) ++exchange.retransmissions;
  const NvmeOperation operation = exchange.command.operation(summary_.is_admin);
  if (operation == nvme::kConnect && read->status.is_success()) {
    summary_.controller_id = static_cast<std::uint16_t>(read->result);
  }
  const bool sets_timeout = operation == nvme::kSetFeatures && read->status.is_success() &&
                            (exchange.command.dword10 & 0xFFU) == nvme::kKeepAliveTimer;
  if (sets_timeout) summary_.keep_alive_timeout = Duration{std::int64_t{exchange.command.dword11} * 1'000'000};
  if (command->is_counted) depth_.remove(part.seen.time);
  of_target_.add(span_of(part.psn, part.seen, found->second), room_);
  answered_.push_back(found->second);
  settle();
}

void NvmeQueueFollower::on_target_data(const Part& part) {
  const Operation operation = part.seen.info().operation;
  const bool is_read = operation == Operation::read_request;
  const bool begins = is_read || begins_here(part.seen);
  NvmeSpans::Span* const span = of_target_.holding(part.psn, operation);
  Command* command = span == nullptr ? nullptr : find(span->command);
  if (begins && (span == nullptr || span->first != part.psn)) {
    const std::uint64_t asked = find_by_memory(part.seen);
    // A READ that is asked for again may begin in the middle of the first.
    const bool is_rest = is_read && part.is_resent && span != nullptr && span->command == asked;
    if (!is_rest) {
      command = find(asked);
      if (command == nullptr) return;
      of_target_.add(span_of(part.psn, part.seen, asked), room_);
      note_memory(*command, part.seen);
      if (is_read && !command->exchange.ask) {
        command->exchange.ask = part.seen.id;
        command->exchange.ask_time = part.seen.time;
      }
    }
  } else if (span != nullptr) {
    extend(*span, part.psn, part.seen);
  }
  if (command == nullptr) return;
  if (part.is_resent) ++command->exchange.retransmissions;
  if (!is_read) add_data(*command, part);
}

void NvmeQueueFollower::note_memory(Command& command, const Observation& seen) {
  const std::uint64_t begin = seen.virtual_address - command.exchange.command.data_address;
  const std::uint64_t end = std::min<std::uint64_t>(begin + seen.dma_length, command.exchange.command.data_length);
  const bool is_first = command.memory_begin == command.memory_end;
  command.memory_begin = is_first ? begin : std::min(command.memory_begin, begin);
  command.memory_end = std::max(command.memory_end, end);
  command.exchange.data_bytes = command.memory_end - std::min(command.memory_begin, command.memory_end);
}

void NvmeQueueFollower::on_host_data(const Part& part) {
  const NvmeSpans::Span* const span = of_target_.holding(part.psn, Operation::read_request);
  Command* const command = span == nullptr ? nullptr : find(span->command);
  if (command != nullptr) add_data(*command, part);
}

void NvmeQueueFollower::add_data(Command& command, const Part& part) {
  NvmeExchange& exchange = command.exchange;
  if (!exchange.first_data) {
    exchange.first_data = part.seen.id;
    exchange.first_data_time = part.seen.time;
  } else if (part.is_spurious) {
    return;
  }
  exchange.last_data = part.seen.id;
  exchange.last_data_time = part.seen.time;
}

void NvmeQueueFollower::note_recovery(const Verdict& resent, const Part& part, Time before) {
  const Time now = part.seen.time;
  Time begin = resent.elapsed > Duration::zero() ? now - resent.elapsed : before == Time{} ? now : before;
  if (part.seen.info().operation == Operation::read_request) {
    // Until then its data came.
    const NvmeSpans::Span* const span = of_target_.holding(part.psn, Operation::read_request);
    const Command* const command = span == nullptr ? nullptr : find(span->command);
    if (command != nullptr && command->exchange.has_data()) begin = std::max(begin, command->exchange.last_data_time);
  }
  recoveries_.add(begin, now, resent.cause == Cause::rnr);
}

bool NvmeQueueFollower::waits_for_events(const NvmeCommand& command) const {
  return command.operation(summary_.is_admin) == nvme::kAsynchronousEventRequest;
}

NvmeQueueFollower::Command* NvmeQueueFollower::find(std::uint64_t serial) {
  const auto found = commands_.find(serial);
  return found == commands_.end() ? nullptr : &found->second;
}

std::uint64_t NvmeQueueFollower::find_by_memory(const Observation& seen) const {
  if (!seen.has_reth) return 0;
  const auto behind = by_memory_.upper_bound({seen.r_key, seen.virtual_address});
  if (behind == by_memory_.begin()) return 0;
  const auto& [memory, serial] = *std::prev(behind);
  const auto found = commands_.find(serial);
  if (memory.first != seen.r_key || found == commands_.end()) return 0;
  const NvmeCommand& asked = found->second.exchange.command;
  return seen.virtual_address - asked.data_address <= asked.data_length ? serial : 0;
}

void NvmeQueueFollower::report(std::uint64_t serial, NvmeEnd end, Time finish) {
  const auto found = commands_.find(serial);
  if (found == commands_.end()) return;
  Command& command = found->second;
  NvmeExchange& exchange = command.exchange;
  if (exchange.response) {
    if (command.is_counted) longest_latency_ = std::max(longest_latency_, exchange.latency());
  } else {
    // Where the capture lacks packets, it may lack the answer.
    const bool is_missed = command.is_doubtful || exchange.start <= last_missed_;
    exchange.end = end == NvmeEnd::unanswered && is_missed ? NvmeEnd::missed : end;
    exchange.finish = std::max(finish, exchange.start);
    if (command.is_counted) depth_.remove(exchange.finish);
  }
  // A capture's clock may go back, and data may come behind the response.
  exchange.finish = std::max(exchange.finish, exchange.start);
  for (Time* const time : {&exchange.ask_time, &exchange.first_data_time, &exchange.last_data_time}) {
    *time = std::clamp(*time, exchange.start, exchange.finish);
  }
  exchange.last_data_time = std::max(exchange.last_data_time, exchange.first_data_time);
  recoveries_.explain(exchange, command.capsule_end);
  room_.done.push_back(exchange);
  const auto id = by_id_.find(exchange.command.command_id);
  if (id != by_id_.end() && id->second == serial) by_id_.erase(id);
  const auto memory = by_memory_.find({exchange.command.data_key, exchange.command.data_address});
  if (memory != by_memory_.end() && memory->second == serial) by_memory_.erase(memory);
  commands_.erase(found);
  ++room_.left;
  const auto is_over = [&](std::uint64_t each) { return !commands_.contains(each); };
  of_host_.drop_front(room_, is_over);
  of_target_.drop_front(room_, is_over);
}

void NvmeQueueFollower::settle() {
  while (answered_.size() > kSettled) {
    report(answered_.front(), NvmeEnd::answered, {});
    answered_.pop_front();
  }
}

void NvmeQueueFollower::move_to(std::uint32_t stream) {
  summary_.stream = stream;
  summary_.host_direction = static_cast<std::uint8_t>(1 - summary_.host_direction);
  std::swap(last_request_[0], last_request_[1]);
}

void NvmeQueueFollower::take(NvmeQueueFollower& other) {
  summary_.responses_without_command += std::exchange(other.summary_.responses_without_command, 0);
  summary_.strange_messages += std::exchange(other.summary_.strange_messages, 0);
  summary_.cut_capsules += std::exchange(other.summary_.cut_capsules, 0);
  if (!summary_.host_qp) summary_.host_qp = other.summary_.host_qp;
  if (!summary_.target_qp) summary_.target_qp = other.summary_.target_qp;
  target_was_seen_ = target_was_seen_ || other.target_was_seen_;
  for (auto& [serial, command] : commands_) command.is_doubtful = true;
}

void NvmeQueueFollower::finish(Time latest) {
  while (!answered_.empty()) {
    report(answered_.front(), NvmeEnd::answered, {});
    answered_.pop_front();
  }
  const Duration most = longest_latency_ > Duration::zero() ? longest_latency_ : kLongWait;
  while (!commands_.empty()) {
    const auto& [serial, command] = *commands_.begin();
    const bool is_over = summary_.is_closed || latest - command.exchange.start > most;
    // A capture of one direction shows no answers.
    const bool is_unanswered = command.is_counted && target_was_seen_ && is_over;
    report(serial, is_unanswered ? NvmeEnd::unanswered : NvmeEnd::open, latest);
  }
  if (!summary_.is_closed) note_keep_alive(latest);
}

NvmeQueue NvmeQueueFollower::result() const {
  NvmeQueue queue = summary_;
  queue.most_outstanding = depth_.most();
  queue.mean_outstanding = depth_.mean();
  return queue;
}

}  // namespace roce::analysis
