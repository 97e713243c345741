// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/comm_ids.h"

#include <optional>

#include "roce/wire/cm_messages.h"

namespace roce::conform {

namespace {

template <typename Message>
void take_ids(CommIds& ids, const Packet& packet) {
  if (const std::optional<Message> message = packet.get<Message>()) {
    ids = {message->local_comm_id.value(), message->remote_comm_id.value()};
  }
}

}  // namespace

CommIds comm_ids_of(const Packet& packet) {
  CommIds ids;
  if (const std::optional<CmReq> req = packet.get<CmReq>()) ids.local = req->local_comm_id.value();
  // For a question it is the tester's or the device's, as the message goes.
  if (const std::optional<CmSidrReq> req = packet.get<CmSidrReq>()) ids.local = req->request_id;
  if (const std::optional<CmSidrRep> rep = packet.get<CmSidrRep>()) ids.remote = rep->request_id;
  take_ids<CmRep>(ids, packet);
  take_ids<CmRtu>(ids, packet);
  take_ids<CmMra>(ids, packet);
  take_ids<CmRej>(ids, packet);
  take_ids<CmDreq>(ids, packet);
  take_ids<CmDrep>(ids, packet);
  take_ids<CmLap>(ids, packet);
  take_ids<CmApr>(ids, packet);
  return ids;
}

}  // namespace roce::conform
