// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/requester_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/fuzz/service.h"
#include "conform/language/functions.h"
#include "roce/wire/aeth.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/deth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/reth.h"

namespace roce::conform::fuzz {

namespace {

using transport::QpType;
using transport::WorkOpcode;

// Whether a receiver looks at bit 7 of the syndrome, which is reserved, is left to it.
constexpr std::uint8_t kReservedBit = 0x80;

// To wait longer costs more on a wire than it shows.
constexpr Duration kLongestRnrWait = std::chrono::milliseconds{20};

bool is_read(const Posted& posted) {
  return posted.opcode == WorkOpcode::read;
}

bool is_atomic(const Posted& posted) {
  return posted.opcode == WorkOpcode::compare_swap || posted.opcode == WorkOpcode::fetch_add;
}

}  // namespace

namespace {

Opcode reliable_opcode_of(WorkOpcode operation, std::uint32_t packet, std::uint32_t packets) {
  const bool is_first = packet == 0;
  const bool is_last = packet + 1 == packets;
  switch (operation) {
    case WorkOpcode::send:
      if (is_first) return is_last ? Opcode::rc_send_only : Opcode::rc_send_first;
      return is_last ? Opcode::rc_send_last : Opcode::rc_send_middle;
    case WorkOpcode::write:
      if (is_first) return is_last ? Opcode::rc_write_only : Opcode::rc_write_first;
      return is_last ? Opcode::rc_write_last : Opcode::rc_write_middle;
    case WorkOpcode::read:
      return Opcode::rc_read_request;
    case WorkOpcode::compare_swap:
      return Opcode::rc_compare_swap;
    default:
      return Opcode::rc_fetch_add;
  }
}

}  // namespace

Opcode opcode_of(QpType type, WorkOpcode operation, std::uint32_t packet, std::uint32_t packets) {
  if (type == QpType::ud) return Opcode::ud_send_only;
  const Opcode opcode = reliable_opcode_of(operation, packet, packets);
  return type == QpType::rc ? opcode : with_service(opcode, service_of(type));
}

bool may_post(QpType type, WorkOpcode operation) {
  if (type == QpType::rc) return true;
  return operation == WorkOpcode::send || (type == QpType::uc && operation == WorkOpcode::write);
}

void RequesterModel::post(Posted posted) {
  const bool is_single = is_atomic(posted) || attributes_.type == QpType::ud;
  posted.first = next_;
  posted.psns = is_single ? 1 : static_cast<std::uint32_t>(packets_for(posted.length, attributes_.path_mtu));
  posted.is_acknowledged = attributes_.type != QpType::rc;
  next_ = next_ + posted.psns;
  open_.push_back(std::move(posted));
}

unsigned RequesterModel::abstract_state() const {
  if (attributes_.type != QpType::rc) return kReliableStates + (attributes_.type == QpType::uc ? 0U : 1U);
  if (is_stopped_) return kReliableStates - 1;
  const auto outstanding = static_cast<unsigned>(std::min<std::size_t>(open_.size(), 3));
  unsigned number = 2 * outstanding + (is_clean_ ? 0U : 1U);
  const bool waits_for_data = !open_.empty() && (is_read(open_.front()) || is_atomic(open_.front()));
  number = 2 * number + (waits_for_data ? 1U : 0U);
  return 2 * number + (!open_.empty() && open_.front().answered != 0 ? 1U : 0U);
}

Posted* RequesterModel::find_open(Psn psn) {
  const auto found = std::ranges::find_if(open_, [&](const Posted& posted) {
    const std::int32_t ahead = psn.distance_from(posted.first);
    return ahead >= 0 && static_cast<std::uint32_t>(ahead) < posted.psns;
  });
  return found == open_.end() ? nullptr : &*found;
}

std::optional<std::string> RequesterModel::judge_request(const Packet& request, Time now) {
  if (!request.is_roce()) return "it is no RoCE";
  const Bth bth = request.bth();
  if (request.info().is_response()) return "nobody asked for a response";
  if (bth.dest_qp != attributes_.peer) return fmt::format("it is for QP 0x{:06x}", bth.dest_qp.value());
  if (bth.psn == unrepeated_) unrepeated_.reset();
  const Posted* posted = find_open(bth.psn);
  if (posted == nullptr) return fmt::format("no open request has PSN {}", bth.psn.value());
  if (is_stopped_) return "the QP is in ERR";
  if (sent_.newer_than(bth.psn)) has_repeated_ = true;
  if (bth.psn == oldest()) timer_since_ = now;
  // A READ is sent at once for all of its answer.
  const Psn behind = is_read(*posted) ? posted->first + posted->psns : bth.psn + 1;
  if (behind.newer_than(sent_)) sent_ = behind;
  return compare_packet(request, *posted);
}

std::optional<std::string> RequesterModel::compare_packet(const Packet& request, const Posted& posted) const {
  const auto packet = static_cast<std::uint32_t>(request.bth().psn.distance_from(posted.first));
  const std::uint64_t done = std::uint64_t{packet} * attributes_.path_mtu;
  const Opcode opcode = opcode_of(attributes_.type, posted.opcode, packet, posted.psns);
  if (request.opcode() != opcode) {
    return fmt::format("expected {} with PSN {}", opcode_info(opcode).name, request.bth().psn.value());
  }
  if (const auto reth = request.get<Reth>()) {
    const std::uint64_t rest = is_read(posted) ? posted.length - done : posted.length;
    const std::uint64_t remote = posted.remote + (is_read(posted) ? done : 0);
    if (reth->virtual_address != remote) return fmt::format("expected address 0x{:x}", remote);
    if (reth->dma_length != rest) return fmt::format("expected a length of {}", rest);
  }
  if (is_read(posted) || is_atomic(posted)) {
    return request.payload_length() == 0 ? std::nullopt : std::optional<std::string>{"it has a payload"};
  }
  const std::uint64_t length =
      posted.psns == 1 ? posted.length : std::min<std::uint64_t>(attributes_.path_mtu, posted.length - done);
  const bool is_equal = length == 0 ? request.payload_length() == 0
                                    : std::ranges::equal(request.payload(), memory_.read(posted.local + done, length));
  if (!is_equal) return "it has other data than the request";
  if (const auto deth = request.get<Deth>()) {
    const QKey q_key = posted.own_q_key ? attributes_.q_key : kRemoteQKey;
    if (deth->q_key != q_key) return fmt::format("expected Q_Key 0x{:08x}", q_key.value());
    if (deth->source_qp != attributes_.own) return fmt::format("expected source QP 0x{:06x}", attributes_.own.value());
  }
  const bool asks = request.bth().ack_req;
  if (attributes_.type != QpType::rc) return asks ? std::optional<std::string>{"it asks for an ACK"} : std::nullopt;
  if (request.info().ends_message() && !asks) return "the last packet does not ask for an ACK";
  return std::nullopt;
}

std::optional<std::string> RequesterModel::end_turn(bool is_wait) {
  // RC-REQ-19: what is sent again after an RNR NAK costs no retry of these.
  const bool is_after_rnr = std::exchange(rnr_wait_, std::nullopt).has_value();
  if (!std::exchange(has_repeated_, false) || is_after_rnr) return std::nullopt;
  is_recovering_ = true;
  if (!is_wait) {
    retries_.may_use_one();
    return std::nullopt;
  }
  const bool may = retries_.may_send_again() || !is_clean_;
  retries_.use_one();
  // The rest of a READ begins anew, or goes on with answers that are under way.
  if (!open_.empty() && is_read(open_.front()) && open_.front().answered != 0) is_clean_ = false;
  if (may) return std::nullopt;
  return fmt::format("it has used up its {} retries", attributes_.retry_count);
}

Psn RequesterModel::oldest() const {
  if (open_.empty()) return next_;
  const Psn missing = open_.front().first + open_.front().answered;
  return behind_.newer_than(missing) ? behind_ : missing;
}

void RequesterModel::acknowledge_before(Psn psn) {
  for (Posted& posted : open_) {
    if (psn.distance_from(posted.first + posted.psns) < 0) return;
    if (!is_read(posted) && !is_atomic(posted)) posted.is_acknowledged = true;
  }
}

bool RequesterModel::lacks_data_up_to(Psn psn) const {
  return std::ranges::any_of(open_, [&](const Posted& one) {
    return (is_read(one) || is_atomic(one)) && !one.is_acknowledged && psn.distance_from(one.first) >= 0;
  });
}

std::optional<Duration> RequesterModel::find_rnr_wait(const Packet& response) const {
  if (response.opcode() != Opcode::rc_acknowledge || !is_clean_) return std::nullopt;
  const Psn psn = response.bth().psn;
  const auto posted = std::ranges::find(open_, psn, &Posted::first);
  const bool needs_receive = posted != open_.end() && posted->opcode == WorkOpcode::send;
  const AethSyndrome syndrome = response.get<Aeth>()->syndrome;
  const std::optional<Duration> wait = syndrome.rnr_timer();
  const bool is_new = !behind_.newer_than(psn) && !lacks_data_up_to(psn) && !is_recovering_;
  const bool is_plain = (syndrome.value() & kReservedBit) == 0;
  return is_plain && needs_receive && is_new && wait && *wait <= kLongestRnrWait ? wait : std::nullopt;
}

void RequesterModel::take_response(const Packet& response, Time now) {
  unrepeated_.reset();
  rnr_wait_.reset();
  // Nothing answers an unreliable request.
  if (attributes_.type != QpType::rc) return;
  const bool is_whole = response.is_roce() && response.problem().reason == ParseReason::none &&
                        check_icrc(response).status == IcrcStatus::good && response.info().is_response();
  // As good as lost.
  if (!is_whole) return;
  const Psn psn = response.bth().psn;
  const bool is_old = open_.empty() || psn.distance_from(open_.front().first) < 0;
  const bool is_future = psn.distance_from(next_) >= 0;
  if (is_future || open_.empty()) {
    is_clean_ = false;
    return;
  }
  const auto aeth = response.get<Aeth>();
  const bool has_reserved_bit = aeth && (aeth->syndrome.value() & kReservedBit) != 0;
  const bool is_ack = !aeth || (aeth->syndrome.value() & ~kReservedBit) < 0x20;
  if (has_reserved_bit) is_clean_ = false;
  if (is_old) {
    is_clean_ = is_clean_ && is_ack && response.opcode() == Opcode::rc_acknowledge;
    return;
  }
  const bool is_gap =
      response.opcode() == Opcode::rc_acknowledge && aeth->syndrome == AethSyndrome::nak(NakCode::psn_sequence_error);
  // A NAK for what a response has acknowledged is an old one.
  const bool is_new = !behind_.newer_than(psn) && !lacks_data_up_to(psn);
  // It may use up a retry, and may be one for what was sent first.
  if (is_gap && is_clean_ && is_new && !is_recovering_ && !retries_.may_give_up()) unrepeated_ = psn;
  rnr_wait_ = find_rnr_wait(response);
  if (rnr_wait_) unrepeated_ = psn;
  const Psn behind = is_ack ? psn + 1 : psn;
  if (behind.newer_than(behind_)) {
    behind_ = behind;
    is_recovering_ = false;
    timer_since_ = now;
    retries_.refill(behind.distance_from(open_.front().first + open_.front().psns) >= 0);
  }
  if (!is_ack && !rnr_wait_) is_clean_ = false;
  // A NAK says that what is before it arrived, and so does an answer.
  acknowledge_before(psn);
  Posted& posted = *find_open(psn);
  if (!is_ack) return;
  if (response.opcode() != Opcode::rc_acknowledge) return take_answer(response, posted);
  acknowledge_before(psn + 1);
  if (lacks_data_up_to(psn)) is_clean_ = false;
}

void RequesterModel::take_answer(const Packet& response, Posted& posted) {
  const auto packet = static_cast<std::uint32_t>(response.bth().psn.distance_from(posted.first));
  const bool is_for_read = response.info().operation == Operation::read_response;
  const bool is_right_kind = is_for_read ? is_read(posted) : is_atomic(posted);
  // All requests after an answer that has not come are sent again.
  const bool passes_data = std::ranges::any_of(open_, [&](const Posted& one) {
    return (is_read(one) || is_atomic(one)) && !one.is_acknowledged && posted.first.newer_than(one.first);
  });
  if (!is_right_kind || packet != posted.answered || passes_data) {
    is_clean_ = false;
    return;
  }
  if (!is_for_read) {
    posted.answered = 1;
    posted.is_acknowledged = true;
    posted.data = MemoryModel::word(response.get<AtomicAckEth>()->original);
    return;
  }
  const std::uint64_t done = std::uint64_t{packet} * attributes_.path_mtu;
  const std::uint64_t length = std::min<std::uint64_t>(attributes_.path_mtu, posted.length - done);
  const bool is_last = packet + 1 == posted.psns;
  const Position position = response.info().position;
  const bool is_right_place = is_last == response.info().ends_message() && (packet != 0 || begins_message(position));
  // The rest of a READ that is asked for again begins anew, and where the PSN and the length are right a device need
  // not look at the position.
  if (!is_right_place || (packet != 0 && begins_message(position))) is_clean_ = false;
  if (response.payload_length() != length) {
    is_clean_ = false;
    return;
  }
  posted.data.insert(posted.data.end(), response.payload().begin(), response.payload().end());
  ++posted.answered;
  posted.is_acknowledged = is_last;
}

std::optional<std::string> RequesterModel::judge_completion(const transport::Completion& completion) {
  using transport::CompletionStatus;
  if (open_.empty()) return "no request is open";
  const Posted posted = open_.front();
  if (completion.wr_id != posted.wr_id) return fmt::format("request {} is the next one", posted.wr_id);
  open_.pop_front();
  if (completion.status == CompletionStatus::success) {
    if (is_stopped_) return "a request before it failed";
    if (!posted.is_acknowledged) return "nothing answered it";
    if (!posted.data.empty()) memory_.write(posted.local, posted.data);
    return std::nullopt;
  }
  if (is_clean_ && !is_stopped_) {
    if (completion.status != CompletionStatus::retry_exceeded) return "each response was right";
    if (!retries_.may_give_up()) return "there are retries left";
  }
  is_stopped_ = true;
  if (completion.status == CompletionStatus::flushed) return std::nullopt;
  // Requests before the one that was refused may be flushed, too.
  if (std::exchange(has_failed_, true)) return "another request failed before";
  return std::nullopt;
}

std::optional<std::string> RequesterModel::find_missing() const {
  if (open_.empty()) return std::nullopt;
  const Posted& posted = open_.front();
  if (is_stopped_) return fmt::format("request {} of a QP in ERR has no completion", posted.wr_id);
  if (is_clean_ && posted.is_acknowledged)
    return fmt::format("request {} is answered and has no completion", posted.wr_id);
  return std::nullopt;
}

}  // namespace roce::conform::fuzz
