// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/manager_generator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roce::conform::fuzz {

namespace {

// A conversation about a connection is short, and each message may cost a device the time to be silent.
constexpr std::size_t kMostMessages = 8;

/// Returns the message that most often follows in a phase.
CmKind usual_in(CmPhase phase, Random& random) {
  switch (phase) {
    case CmPhase::listening:
      return CmKind::req;
    case CmPhase::replied:
      return happens(random, 75) ? CmKind::rtu : CmKind::rej;
    case CmPhase::leaving:
      return happens(random, 75) ? CmKind::drep : CmKind::dreq;
    default:
      return CmKind::dreq;
  }
}

FieldChange change_of_request(Random& random) {
  static const std::array<FieldChange, 18> changes{{{"cm_req.transport_service", "1"},
                                                    {"cm_req.transport_service", "2"},
                                                    {"cm_req.transport_service", "3"},
                                                    {"cm_req.path_mtu", "0"},
                                                    {"cm_req.path_mtu", "6"},
                                                    {"cm_req.path_mtu", "15"},
                                                    {"cm_req.local_qpn", "0"},
                                                    {"cm_req.local_qpn", "1"},
                                                    {"cm_req.local_qpn", "0xffffff"},
                                                    {"cm_req.local_comm_id", "0"},
                                                    {"cm_req.service_id", "0"},
                                                    {"cm_req.responder_resources", "255"},
                                                    {"cm_req.initiator_depth", "255"},
                                                    {"cm_req.primary_hop_limit", "0"},
                                                    {"cm_req.local_ca_guid", "0"},
                                                    {"cma.ip_version", "5"},
                                                    {"cma.version", "1"},
                                                    {"cma.destination_address", "::"}}};
  return one_of(random, changes);
}

FieldChange change_of_any(Random& random) {
  static const std::array<FieldChange, 12> changes{{{"mad.base_version", "2"},
                                                    {"mad.mgmt_class", "4"},
                                                    {"mad.mgmt_class", "11"},
                                                    {"mad.class_version", "1"},
                                                    {"mad.class_version", "3"},
                                                    {"mad.method", "1"},
                                                    {"mad.method", "2"},
                                                    {"mad.method", "6"},
                                                    {"deth.q_key", "0x80010001"},
                                                    {"deth.q_key", "0"},
                                                    {"bth.p_key", "0x1234"},
                                                    {"mad.status", "4"}}};
  return one_of(random, changes);
}

FieldChange change_of_rejection(Random& random) {
  static const std::array<FieldChange, 6> changes{{{"cm_rej.info_length", "1"},
                                                   {"cm_rej.info_length", "72"},
                                                   {"cm_rej.info_length", "73"},
                                                   {"cm_rej.info_length", "127"},
                                                   {"cm_rej.message", "0"},
                                                   {"cm_rej.message", "2"}}};
  return one_of(random, changes);
}

}  // namespace

void mutate(Message& message, Random& random) {
  switch (draw(random, 8)) {
    case 0:
      message.local_flip = 1U << draw(random, 32);
      break;
    case 1:
      message.remote_flip = 1U << draw(random, 32);
      break;
    case 2:
      message.qpn_flip = message.kind == CmKind::dreq ? 1U << draw(random, Qpn::kBits) : 0;
      break;
    case 3:
      message.transaction = 1 + draw(random, 1000);
      break;
    case 4:
      message.wrong_icrc = true;
      break;
    case 5:
      message.changes.push_back(change_of_any(random));
      break;
    default:
      if (message.kind == CmKind::req) message.changes.push_back(change_of_request(random));
      if (message.kind == CmKind::rej) message.changes.push_back(change_of_rejection(random));
  }
}

ManagerGenerator::ManagerGenerator(Random& random, std::vector<Action> begin)
    : random_(random), length_(1 + draw(random, kMostMessages)), begin_(random, std::move(begin)) {
  if (begin_.size() != 0) length_ = begin_.size() + draw(random, 4);
}

std::optional<Action> ManagerGenerator::next(const ManagerModel& model) {
  const std::size_t number = next_++;
  if (number < begin_.size()) {
    return begin_.take<Message>(number, [&](Message& message) { mutate(message, random_); });
  }
  if (number > length_) return std::nullopt;
  if (number == length_) return Message{.is_fresh = true};
  if (model.can_disconnect() && happens(random_, 20)) return Disconnect{};
  Message message{.kind = usual_in(model.phase(), random_)};
  if (happens(random_, 35)) message.kind = static_cast<CmKind>(draw(random_, kCmNames.size()));
  if (happens(random_, 30)) mutate(message, random_);
  return message;
}

}  // namespace roce::conform::fuzz
