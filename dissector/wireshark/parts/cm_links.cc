// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/cm_links.h"

namespace roce::plugin {

namespace {

bool is_of_connection(MadAttribute attribute) {
  using enum MadAttribute;
  return attribute == cm_req || attribute == cm_rep || attribute == cm_rtu || attribute == cm_rej ||
         attribute == cm_mra || attribute == cm_dreq || attribute == cm_drep;
}

}  // namespace

std::size_t CmLinks::connection_of(const analysis::Observation& observation) {
  const analysis::CmFacts& cm = observation.cm;
  const End sender{observation.source, observation.point, cm.local_id};
  const End receiver{observation.destination, observation.point, cm.remote_id};
  const bool is_request = cm.attribute == MadAttribute::cm_req;
  auto known = is_request ? by_end_.end() : by_end_.find(receiver);
  if (known == by_end_.end()) known = by_end_.find(sender);
  const bool is_known = known != by_end_.end() && !(is_request && connections_[known->second].has_ended);
  const std::size_t index = is_known ? known->second : connections_.size();
  if (!is_known) connections_.emplace_back();
  by_end_[sender] = index;
  if (!is_request) by_end_[receiver] = index;
  return index;
}

void CmLinks::observe(const analysis::Observation& observation) {
  if (!is_of_connection(observation.cm.attribute) || observation.icrc_bad) return;
  const std::size_t index = connection_of(observation);
  Connection& connection = connections_[index];
  places_[observation.id] = {index, connection.messages.size()};
  connection.messages.push_back(observation.id);
  const MadAttribute attribute = observation.cm.attribute;
  if (attribute == MadAttribute::cm_rej || attribute == MadAttribute::cm_drep) connection.has_ended = true;
}

CmLinks::Links CmLinks::find(analysis::PacketId message) const {
  const auto found = places_.find(message);
  if (found == places_.end()) return {};
  const std::vector<analysis::PacketId>& all = connections_[found->second.connection].messages;
  const std::size_t index = found->second.index;
  Links links;
  if (index != 0) {
    links.request = all.front();
    links.before = all[index - 1];
  }
  if (index + 1 < all.size()) links.next = all[index + 1];
  return links;
}

}  // namespace roce::plugin
