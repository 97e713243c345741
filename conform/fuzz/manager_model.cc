// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/manager_model.h"

#include <algorithm>
#include <initializer_list>

#include "conform/target/comm_ids.h"
#include "roce/wire/cm_messages.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint16_t kStale = 10;

/// A change of a field that says what becomes of the message.
struct KnownChange {
  CmKind kind;
  std::string_view field;
  std::string_view value;  ///< empty: any
};

// Fields that no connection can have (CM-REJ-1).
constexpr std::array kImpossible{KnownChange{CmKind::req, "cm_req.transport_service", "2"},
                                 KnownChange{CmKind::req, "cm_req.transport_service", "3"},
                                 KnownChange{CmKind::req, "cm_req.path_mtu", "0"},
                                 KnownChange{CmKind::req, "cm_req.path_mtu", "6"},
                                 KnownChange{CmKind::req, "cm_req.path_mtu", "15"},
                                 KnownChange{CmKind::req, "cm_req.local_qpn", "0"},
                                 KnownChange{CmKind::req, "cm_req.local_qpn", "1"},
                                 KnownChange{CmKind::req, "cm_req.local_qpn", "0xffffff"},
                                 KnownChange{CmKind::req, "cm_req.local_comm_id", "0"}};
// Fields that change nothing about what a message does.
constexpr std::array kHarmless{KnownChange{CmKind::rej, "cm_rej.info_length", ""},
                               KnownChange{CmKind::rej, "cm_rej.message", ""}};
// Fields of a datagram that is no message to the communication manager (W-CM-1, UD-02).
constexpr std::array<std::string_view, 6> kOfCarrier{"mad.base_version", "mad.mgmt_class", "mad.class_version",
                                                     "mad.method",       "deth.q_key",     "bth.p_key"};

template <std::size_t N>
bool is_one_of(const std::array<KnownChange, N>& known, CmKind kind, const FieldChange& change) {
  return std::ranges::any_of(known, [&](const KnownChange& one) {
    return one.kind == kind && one.field == change.field && (one.value.empty() || one.value == change.value);
  });
}

bool is_of_carrier(const FieldChange& change) {
  return std::ranges::find(kOfCarrier, change.field) != kOfCarrier.end();
}

}  // namespace

std::optional<CmKind> cm_kind_of(const Packet& packet) {
  if (!packet.is_roce()) return std::nullopt;
  const auto* const found = std::ranges::find(kCmNames, frame_name(packet));
  if (found == kCmNames.end()) return std::nullopt;
  return static_cast<CmKind>(found - kCmNames.begin());
}

bool fits(const CmBehaviour& behaviour, const Packet& answer, const Packet& message) {
  const std::optional<CmKind> kind = cm_kind_of(answer);
  if (!kind || kind != behaviour.answer) return false;
  if (answer.get<Mad>()->transaction_id != message.get<Mad>()->transaction_id) return false;
  const CommIds seen = comm_ids_of(answer);
  const CommIds sent = comm_ids_of(message);
  if (seen.remote != sent.local) return false;
  if (kind == CmKind::drep && seen.local != sent.remote) return false;
  const auto rej = answer.get<CmRej>();
  return !rej || behaviour.reasons.empty() ||
         std::ranges::find(behaviour.reasons, static_cast<std::uint16_t>(rej->reason)) != behaviour.reasons.end();
}

CmExpectation ManagerModel::nothing_or(std::initializer_list<CmKind> answers) const {
  CmExpectation expectation;
  for (const CmKind answer : answers) expectation.push_back({.answer = answer, .next = phase_});
  expectation.push_back({.next = phase_});
  return expectation;
}

bool ManagerModel::is_up() const {
  return phase_ == CmPhase::replied || phase_ == CmPhase::established || phase_ == CmPhase::leaving;
}

CmExpectation ManagerModel::judge_request() const {
  switch (phase_) {
    case CmPhase::listening:
      return {{.answer = CmKind::rep, .events = {"request"}, .next = CmPhase::replied}};
    case CmPhase::replied:
    case CmPhase::established:
    case CmPhase::leaving:
      // CM-DUP-1.
      return nothing_or({CmKind::mra, CmKind::rep});
    case CmPhase::ended: {
      CmExpectation expectation = nothing_or({CmKind::mra});
      expectation.push_back({.answer = CmKind::rej, .reasons = {kStale}, .next = phase_});
      return expectation;
    }
    default:
      return {};
  }
}

CmExpectation ManagerModel::judge_right(CmKind kind) const {
  switch (kind) {
    case CmKind::req:
      return judge_request();
    case CmKind::rtu:
      if (phase_ != CmPhase::replied) return nothing_or({});
      return {{.events = {"established"}, .next = CmPhase::established}};
    case CmKind::rej:
      if (phase_ == CmPhase::leaving) return {};
      if (!is_up()) return nothing_or({});
      return {{.events = {"rejected"}, .next = CmPhase::rejected}};
    case CmKind::dreq:
      // CM-DREQ-1.
      if (is_up()) {
        return {{.answer = CmKind::drep, .events = {"disconnected"}, .next = CmPhase::ended}};
      }
      return {{.answer = CmKind::drep, .next = phase_}};
    case CmKind::drep:
      if (phase_ != CmPhase::leaving) return nothing_or({});
      return {{.events = {"disconnected"}, .next = CmPhase::ended}};
    case CmKind::lap:
      // CM-LAP-1.
      if (phase_ == CmPhase::established) {
        return {{.answer = CmKind::apr, .next = phase_}, {.answer = CmKind::rej, .next = phase_}};
      }
      return nothing_or({CmKind::apr, CmKind::rej});
    case CmKind::rep:
      return nothing_or({CmKind::rej});
    default:
      return nothing_or({});
  }
}

CmExpectation ManagerModel::judge_foreign(const Message& message) const {
  // It has the IDs of no connection, or the QPN of another one.
  switch (message.kind) {
    case CmKind::req:
      // The QP of a connection is asked for again, by another one.
      return {};
    case CmKind::dreq:
      if (message.qpn_flip == 0 && message.remote_flip != 0) return {{.answer = CmKind::drep, .next = phase_}};
      return is_up() && message.remote_flip == 0 && message.local_flip == 0 ? nothing_or({})
                                                                            : nothing_or({CmKind::drep});
    case CmKind::rep:
    case CmKind::lap:
      return nothing_or({CmKind::rej, CmKind::apr});
    default:
      return nothing_or({});
  }
}

CmExpectation ManagerModel::judge_changed(const Message& message) const {
  const FieldChange& change = message.changes.front();
  if (message.changes.size() == 1 && is_one_of(kImpossible, message.kind, change)) {
    return phase_ == CmPhase::listening || message.is_fresh ? nothing_or({CmKind::rej}) : CmExpectation{};
  }
  return {};
}

CmExpectation ManagerModel::judge(const Message& message) const {
  const bool is_lost = message.wrong_icrc || std::ranges::any_of(message.changes, is_of_carrier);
  if (is_lost) return {{.next = phase_}};
  if (phase_ == CmPhase::unsure) return {};
  const bool is_harmless = std::ranges::all_of(
      message.changes, [&](const FieldChange& change) { return is_one_of(kHarmless, message.kind, change); });
  if (!is_harmless) return judge_changed(message);
  if (message.is_fresh && message.kind == CmKind::req) {
    if (has_asked_twice_) return {};
    return {{.answer = CmKind::rep, .events = {"request"}, .next = phase_}};
  }
  // A REP that is sent again may have the transaction of the first.
  if (message.kind == CmKind::req && message.transaction != 0 && phase_ != CmPhase::listening) return {};
  // Before a connection has one, the device's ID is 0 whatever is inverted of it.
  const bool is_foreign = message.local_flip != 0 || message.remote_flip != 0 || message.qpn_flip != 0;
  if (phase_ == CmPhase::listening && message.kind == CmKind::dreq) return nothing_or({CmKind::drep});
  return is_foreign ? judge_foreign(message) : judge_right(message.kind);
}

void ManagerModel::apply(const Message& message, const CmBehaviour* taken) {
  if (message.is_fresh && message.kind == CmKind::req) has_asked_twice_ = true;
  phase_ = taken != nullptr ? taken->next : CmPhase::unsure;
}

}  // namespace roce::conform::fuzz
