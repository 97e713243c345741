// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/request_channel.h"

#include <algorithm>

namespace roce::analyze {

void RequestChannel::on_request(const RequestPacket& request, bool arrives, FactCounts& responder) {
  if (!has_begun_) {
    has_begun_ = true;
    expected_ = acknowledged_ = request.psn;
  }
  if (request.starts_message && (starts_.empty() || starts_.back() < request.psn)) {
    starts_.push_back(request.psn);
    if (starts_.size() > kMaxRemembered) starts_.pop_front();
  }
  if (put_off_ && request.psn <= *put_off_) put_off_.reset();
  if (request.psn > expected_ && !may_be_farther_) {
    // NICs differ in what a responder that is not ready does with the requests that follow.
    if (state_ == State::not_ready) {
      responder.doubt(HostFact::requests_out_of_sequence);
    } else {
      responder.add(HostFact::requests_out_of_sequence);
    }
    if (request.begins) responder.doubt(*request.begins);
    return;
  }
  if (request.psn < expected_) {
    // Without an answer, the first transmission may have been lost on its way, and this one is not a duplicate then.
    const bool is_certain = arrives || request.psn < acknowledged_;
    if (is_certain) {
      responder.add(HostFact::duplicate_requests);
    } else {
      responder.doubt(HostFact::duplicate_requests);
    }
    if (request.psn >= acknowledged_) {
      duplicates_.push_back({request.psn, is_certain});
      if (duplicates_.size() > kMaxRemembered) duplicates_.pop_front();
    }
    if (request.begins) responder.doubt(*request.begins);
    return;
  }
  state_ = State::in_order;
  expected_ = request.psn + request.psn_count.value_or(1);
  may_be_farther_ = !request.psn_count;
  if (request.begins) responder.add(*request.begins);
  executed_.push_back({request.psn, request.begins, request.bytes});
  if (executed_.size() > kMaxRemembered) executed_.pop_front();
}

void RequestChannel::acknowledge_until(std::int64_t psn) {
  acknowledged_ = std::max(acknowledged_, psn);
  while (!executed_.empty() && executed_.front().psn < acknowledged_) executed_.pop_front();
  duplicates_.remove_if([&](const Duplicate& duplicate) { return duplicate.psn < acknowledged_; });
  if (put_off_ && *put_off_ < acknowledged_) put_off_.reset();
  // The start of a partly acknowledged message is still needed.
  while (starts_.size() > 1 && starts_[1] <= acknowledged_) starts_.pop_front();
}

void RequestChannel::on_ack(std::int64_t psn, FactCounts& /*responder*/) {
  if (!has_begun_) return;
  acknowledge_until(psn + 1);
  if (expected_ < psn + 1) {
    expected_ = psn + 1;
    may_be_farther_ = false;
  }
}

template <typename Use>
void RequestChannel::take_back(std::int64_t psn, FactCounts& responder, Use on_taken) {
  while (!executed_.empty() && executed_.back().psn >= psn) {
    const Executed taken = executed_.back();
    executed_.pop_back();
    if (taken.begins) responder.unsettle(*taken.begins);
    if (taken.psn > psn) on_taken(taken);
  }
  // Requests that were not executed were not duplicates when they came again either.
  for (const Duplicate& duplicate : duplicates_) {
    if (duplicate.is_certain) {
      responder.add(HostFact::duplicate_requests, -1);
    } else {
      responder.doubt(HostFact::duplicate_requests, -1);
    }
    if (duplicate.psn > psn) responder.doubt(HostFact::requests_out_of_sequence);
  }
  duplicates_.clear();
  expected_ = psn;
  may_be_farther_ = false;
}

void RequestChannel::on_sequence_nak(std::int64_t psn, FactCounts& responder, FactCounts& requester) {
  if (!has_begun_ || psn < acknowledged_) return;
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), psn);
  if (behind == starts_.begin()) {
    requester.doubt(HostFact::progress_naks_received);
  } else if (psn > std::max(acknowledged_, *(behind - 1))) {
    requester.add(HostFact::progress_naks_received);
  }
  // A requester that waits because of an RNR NAK may or may not go back for this one.
  if (put_off_) requester.doubt(HostFact::go_backs);
  acknowledge_until(psn);
  take_back(psn, responder, [&](const Executed&) { responder.add(HostFact::requests_out_of_sequence); });
  state_ = State::missing;
}

void RequestChannel::on_rnr_nak(std::int64_t psn, FactCounts& responder) {
  if (!has_begun_ || psn < acknowledged_) return;
  acknowledge_until(psn);
  take_back(psn, responder, [&](const Executed&) { responder.doubt(HostFact::requests_out_of_sequence); });
  state_ = State::not_ready;
  put_off_ = psn;
}

void RequestChannel::on_error_nak(std::int64_t psn, FactCounts& responder) {
  if (!has_begun_ || psn < acknowledged_) return;
  acknowledge_until(psn);
  while (!executed_.empty() && executed_.back().psn > psn) {
    const Executed& refused = executed_.back();
    if (refused.begins) responder.unsettle(*refused.begins);
    responder.unsettle(HostFact::packets_received);
    responder.unsettle(HostFact::bytes_received, refused.bytes);
    executed_.pop_back();
  }
}

void RequestChannel::on_unanswered(FactCounts& responder) {
  for (const Executed& request : executed_) {
    if (request.begins) responder.unsettle(*request.begins);
  }
  executed_.clear();
}

bool RequestChannel::goes_back(std::int64_t psn, bool is_repeated) {
  if (!is_repeated) {
    last_repeated_.reset();
    return false;
  }
  was_repeated_ = true;
  const bool is_back = !last_repeated_ || psn <= *last_repeated_;
  last_repeated_ = psn;
  return is_back;
}

}  // namespace roce::analyze
