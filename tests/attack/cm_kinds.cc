// SPDX-License-Identifier: BSD-2-Clause
// Messages of the communication manager that are legal except for one thing, or come at the wrong time.
#include <algorithm>
#include <array>

#include "cm_attack.h"

namespace roce::attack {

namespace {

[[nodiscard]] CmMessage req_again(CmWorkshop& shop, const Conversation& conversation) {
  return shop.message(shop.req(conversation));
}
[[nodiscard]] CmMessage req_other_name(CmWorkshop& shop, const Conversation& conversation) {
  CmReq req = shop.req(conversation);
  req.local_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(req);
}
[[nodiscard]] CmMessage req_service(CmWorkshop& shop, const Conversation& conversation) {
  CmReq req = shop.req(conversation);
  req.local_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  req.local_qpn = Qpn{static_cast<std::uint32_t>(shop.number())};
  req.service_id =
      shop.any_of({ServiceId{0}, ServiceId{shop.number()}, ServiceId{PortSpace::tcp, 1}, ServiceId{PortSpace::ib, 7174},
                   ServiceId{PortSpace::udp, 7174}, ServiceId{conversation.service.value() | 0xFF00'0000'0000'0000}});
  return shop.message(req);
}
[[nodiscard]] CmMessage req_transport(CmWorkshop& shop, const Conversation& conversation) {
  CmReq req = shop.req(conversation);
  req.local_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  req.local_qpn = Qpn{static_cast<std::uint32_t>(shop.number())};
  req.transport_service = static_cast<CmTransportService>(2 + shop.below(2));
  req.extended_transport = static_cast<CmExtendedTransport>(shop.below(8));
  return shop.message(req);
}
[[nodiscard]] CmMessage req_path_mtu(CmWorkshop& shop, const Conversation& conversation) {
  CmReq req = shop.req(conversation);
  req.local_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  req.local_qpn = Qpn{static_cast<std::uint32_t>(shop.number())};
  req.path_mtu = static_cast<PathMtu>(shop.any_of({0, 6, 7, 15, 5}));
  return shop.message(req);
}
[[nodiscard]] CmMessage req_private_data(CmWorkshop& shop, const Conversation& conversation) {
  CmReq req = shop.req(conversation);
  req.local_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  req.local_qpn = Qpn{static_cast<std::uint32_t>(shop.number())};
  Cma cma;
  switch (shop.below(3)) {
    case 0:
      cma.major_version = static_cast<std::uint8_t>(1 + shop.below(15));
      write(cma, req.private_data.data());
      break;
    case 1:
      cma.ip_version = static_cast<std::uint8_t>(shop.any_of({0, 5, 15}));
      write(cma, req.private_data.data());
      break;
    default:
      shop.fill(req.private_data);
      req.private_data[0] = std::byte{1};
      break;
  }
  return shop.message(req);
}
[[nodiscard]] CmMessage req_numbers(CmWorkshop& shop, const Conversation& conversation) {
  CmReq req = shop.req(conversation);
  switch (shop.below(6)) {
    case 0:
      req.local_comm_id = CommId{0};
      break;
    case 1:
      req.local_qpn = Qpn{static_cast<std::uint32_t>(shop.below(2))};
      break;
    case 2:
      req.local_ca_guid = 0;
      break;
    case 3:
      req.remote_cm_response_timeout = req.local_cm_response_timeout = shop.any_of<std::uint8_t>({0, 31});
      req.max_cm_retries = shop.any_of<std::uint8_t>({0, 15});
      req.primary_local_ack_timeout = shop.any_of<std::uint8_t>({0, 31});
      break;
    case 4:
      req.responder_resources = req.initiator_depth = 255;
      break;
    default:
      shop.fill(std::as_writable_bytes(std::span{req.primary_local_gid.octets}));
      break;
  }
  return shop.message(req);
}
[[nodiscard]] CmMessage rep(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmRep>(conversation);
  body.local_qpn = conversation.qpn;
  body.starting_psn = Psn{static_cast<std::uint32_t>(shop.number())};
  body.responder_resources = static_cast<std::uint8_t>(shop.number());
  if (shop.below(2) == 0) body.remote_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(body);
}
[[nodiscard]] CmMessage rtu(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmRtu>(conversation);
  if (shop.below(3) != 0) body.remote_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  if (shop.below(3) == 0) body.local_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(body);
}
[[nodiscard]] CmMessage mra(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmMra>(conversation);
  body.message = static_cast<CmMessageKind>(shop.below(4));
  body.service_timeout = static_cast<std::uint8_t>(shop.any_of({0, 1, 31}));
  if (shop.below(2) == 0) body.remote_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(body);
}
[[nodiscard]] CmMessage rej(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmRej>(conversation);
  body.message = static_cast<CmMessageKind>(shop.below(4));
  body.reason = static_cast<CmRejReason>(shop.any_of({0, 4, 10, 28, 35, 65535}));
  body.info_length = static_cast<std::uint8_t>(shop.below(128));
  // Most do not name the conversation, because that would end it.
  if (shop.below(16) != 0) body.remote_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(body);
}
[[nodiscard]] CmMessage dreq(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmDreq>(conversation);
  body.remote_qpn = Qpn{conversation.remote_qpn.value() + 1};
  if (shop.below(2) == 0) body.remote_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(body);
}
[[nodiscard]] CmMessage drep(CmWorkshop& shop, const Conversation& conversation) {
  return shop.message(shop.named<CmDrep>(conversation));
}
[[nodiscard]] CmMessage lap(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmLap>(conversation);
  body.remote_qpn = Qpn{static_cast<std::uint32_t>(shop.number())};
  body.remote_cm_response_timeout = 31;
  if (shop.below(2) == 0) body.remote_comm_id = CommId{static_cast<std::uint32_t>(shop.number())};
  return shop.message(body);
}
[[nodiscard]] CmMessage apr(CmWorkshop& shop, const Conversation& conversation) {
  auto body = shop.named<CmApr>(conversation);
  body.info_length = 255;
  body.status = static_cast<CmAprStatus>(shop.below(256));
  return shop.message(body);
}
[[nodiscard]] CmMessage sidr_req(CmWorkshop& shop, const Conversation&) {
  CmSidrReq body;
  body.request_id = static_cast<std::uint32_t>(shop.number());
  body.service_id =
      shop.any_of({ServiceId{PortSpace::udp, 1}, ServiceId{PortSpace::udp, 7174}, ServiceId{shop.number()}});
  if (shop.below(2) == 0) shop.fill(body.private_data);
  body.private_data[0] = std::byte{0xF0};
  return shop.message(body);
}
[[nodiscard]] CmMessage sidr_rep(CmWorkshop& shop, const Conversation& conversation) {
  CmSidrRep body;
  body.request_id = conversation.local.value();
  body.info_length = 255;
  body.status = static_cast<CmSidrStatus>(shop.below(8));
  return shop.message(body);
}
[[nodiscard]] CmMessage mad_header(CmWorkshop& shop, const Conversation& conversation) {
  CmMessage made = shop.legal(conversation);
  auto mad = read<Mad>(made.mad.data());
  switch (shop.below(6)) {
    case 0:
      mad.base_version = static_cast<std::uint8_t>(2 + shop.below(200));
      break;
    case 1:
      mad.mgmt_class = shop.any_of({MgmtClass::subnet_administration, MgmtClass::performance, MgmtClass{0x81}});
      break;
    case 2:
      mad.class_version = static_cast<std::uint8_t>(shop.any_of({0, 1, 3, 255}));
      break;
    case 3:
      mad.method = shop.any_of({MadMethod::get, MadMethod::set, MadMethod::get_response, MadMethod{0xFF}});
      break;
    case 4:
      mad.attribute_id = static_cast<MadAttribute>(shop.any_of({0, 1, 0x0F, 0x1B, 0x1C, 0xFFFF}));
      break;
    default:
      mad.attribute_id = static_cast<MadAttribute>(0x10 + shop.below(11));
      break;
  }
  write(mad, made.mad.data());
  return made;
}
[[nodiscard]] CmMessage size(CmWorkshop& shop, const Conversation& conversation) {
  CmMessage made = shop.legal(conversation);
  made.mad.resize(shop.any_of<std::size_t>({0, 1, 23, 24, 28, 100, 255, 257, 300, 1000}));
  return made;
}
[[nodiscard]] CmMessage datagram(CmWorkshop& shop, const Conversation& conversation) {
  CmMessage made = shop.legal(conversation);
  switch (shop.below(3)) {
    case 0:
      made.q_key = QKey{static_cast<std::uint32_t>(shop.number())};
      break;
    case 1:
      made.p_key = PKey{0x1234};
      break;
    default:
      made.source_qp = Qpn{static_cast<std::uint32_t>(2 + shop.below(1000))};
      break;
  }
  return made;
}
[[nodiscard]] CmMessage damaged(CmWorkshop& shop, const Conversation& conversation) {
  CmMessage made = shop.legal(conversation);
  for (std::uint64_t left = 1 + shop.below(8); left > 0; --left) {
    made.mad[shop.below(made.mad.size())] = static_cast<std::byte>(shop.number());
  }
  return made;
}

constexpr std::array kKinds{CmKind{"REQ again", 4, req_again},
                            CmKind{"REQ, same QP, another name", 2, req_other_name},
                            CmKind{"REQ, service", 4, req_service},
                            CmKind{"REQ, transport", 3, req_transport},
                            CmKind{"REQ, path MTU", 3, req_path_mtu},
                            CmKind{"REQ, private data", 4, req_private_data},
                            CmKind{"REQ, numbers", 2, req_numbers},
                            CmKind{"REP", 3, rep},
                            CmKind{"RTU", 3, rtu},
                            CmKind{"MRA", 4, mra},
                            CmKind{"REJ", 4, rej},
                            CmKind{"DREQ", 4, dreq},
                            CmKind{"DREP", 3, drep},
                            CmKind{"LAP", 3, lap},
                            CmKind{"APR", 2, apr},
                            CmKind{"SIDR_REQ", 4, sidr_req},
                            CmKind{"SIDR_REP", 2, sidr_rep},
                            CmKind{"MAD header", 4, mad_header},
                            CmKind{"length", 4, size},
                            CmKind{"Q_Key, P_Key, source QP", 4, datagram},
                            CmKind{"damaged bytes", 6, damaged}};

}  // namespace

std::span<const CmKind> cm_kinds() {
  return kKinds;
}

}  // namespace roce::attack
