// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/cm_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conform/run/field_match.h"
#include "conform/target/device_frame.h"
#include "roce/wire/fields.h"

namespace roce::conform {

namespace {

constexpr std::array kMessages{
    std::pair{std::string_view{"CM_REQ"}, MadAttribute::cm_req},
    std::pair{std::string_view{"CM_MRA"}, MadAttribute::cm_mra},
    std::pair{std::string_view{"CM_REJ"}, MadAttribute::cm_rej},
    std::pair{std::string_view{"CM_REP"}, MadAttribute::cm_rep},
    std::pair{std::string_view{"CM_RTU"}, MadAttribute::cm_rtu},
    std::pair{std::string_view{"CM_DREQ"}, MadAttribute::cm_dreq},
    std::pair{std::string_view{"CM_DREP"}, MadAttribute::cm_drep},
    std::pair{std::string_view{"CM_SIDR_REQ"}, MadAttribute::cm_sidr_req},
    std::pair{std::string_view{"CM_SIDR_REP"}, MadAttribute::cm_sidr_rep},
    std::pair{std::string_view{"CM_LAP"}, MadAttribute::cm_lap},
    std::pair{std::string_view{"CM_APR"}, MadAttribute::cm_apr},
};

std::uint64_t path_mtu_code(std::uint32_t path_mtu) {
  std::uint8_t code = 1;
  while (to_bytes(static_cast<PathMtu>(code)) < path_mtu && code < static_cast<std::uint8_t>(PathMtu::mtu_4096)) ++code;
  return code;
}

/// The fields of one message under construction.
class Fields {
 public:
  explicit Fields(std::string_view header) : header_(header) {}

  void put(std::string_view name, std::uint64_t value) { put(name, std::to_string(value)); }
  void put(std::string_view name, std::string text) {
    fields_.emplace_back(fmt::format("{}.{}", header_, name), std::move(text));
  }
  void put_mad(MadAttribute attribute, std::uint64_t transaction) {
    const Mad mad{.transaction_id = transaction, .attribute_id = attribute};
    const auto add = [&](std::string_view name, std::uint64_t value) {
      fields_.emplace_back(fmt::format("mad.{}", name), std::to_string(value));
    };
    add("base_version", mad.base_version);
    add("mgmt_class", static_cast<std::uint64_t>(mad.mgmt_class));
    add("class_version", mad.class_version);
    add("method", static_cast<std::uint64_t>(mad.method));
    add("transaction_id", mad.transaction_id);
    add("attribute_id", static_cast<std::uint64_t>(mad.attribute_id));
  }
  void put_addresses(const Port& port) {
    const Cma header = address_header(port);
    fields_.emplace_back("cma.ip_version", std::to_string(header.ip_version));
    fields_.emplace_back("cma.source_port", std::to_string(header.source_port));
    fields_.emplace_back("cma.source_address", to_string(header.source_address));
    fields_.emplace_back("cma.destination_address", to_string(header.destination_address));
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> take() { return std::move(fields_); }

 private:
  std::string_view header_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

// As Linux sends it (IBTA vol. 1, 12.6.5).
void fill_request(Fields& fields, const CmTalk& talk, const Port& port) {
  constexpr std::uint64_t no_lid = 0xFFFF;
  fields.put("local_comm_id", talk.local.value());
  fields.put("service_id", talk.service.value());
  fields.put("local_ca_guid", talk.ca_guid);
  fields.put("local_qpn", talk.local_qpn.value());
  fields.put("responder_resources", talk.depth);
  fields.put("initiator_depth", talk.depth);
  fields.put("remote_cm_response_timeout", 20);
  fields.put("local_cm_response_timeout", 20);
  fields.put("transport_service", talk.type == transport::QpType::uc ? 1 : 0);
  fields.put("starting_psn", talk.starting_psn.value());
  fields.put("retry_count", 7);
  fields.put("rnr_retry_count", 7);
  fields.put("max_cm_retries", 15);
  fields.put("path_mtu", path_mtu_code(talk.path_mtu));
  fields.put("primary_local_lid", no_lid);
  fields.put("primary_remote_lid", no_lid);
  fields.put("primary_local_gid", to_string(port.tester_gid));
  fields.put("primary_remote_gid", to_string(port.device_gid));
  fields.put("primary_hop_limit", 64);
  fields.put("primary_local_ack_timeout", 17);
  fields.put_addresses(port);
}

void fill_reply(Fields& fields, const CmTalk& talk) {
  fields.put("local_qpn", talk.local_qpn.value());
  fields.put("starting_psn", talk.starting_psn.value());
  fields.put("responder_resources", talk.depth);
  fields.put("initiator_depth", talk.depth);
  fields.put("target_ack_delay", 15);
  fields.put("rnr_retry_count", 7);
  fields.put("local_ca_guid", talk.ca_guid);
}

bool answers_device(HeaderId message) {
  return message == HeaderId::cm_drep || message == HeaderId::cm_apr || message == HeaderId::cm_sidr_rep;
}

}  // namespace

std::optional<HeaderId> cm_message(std::string_view name) {
  const auto* const found = std::ranges::find(kMessages, name, [](const auto& each) { return each.first; });
  if (found == kMessages.end()) return std::nullopt;
  return cm_header_id(found->second);
}

std::string frame_name(const Packet& packet) {
  for (const auto& [name, attribute] : kMessages) {
    if (packet.find(cm_header_id(attribute))) return std::string{name};
  }
  return std::string{packet.info().name};
}

void CmTalk::learn(const Packet& packet) {
  const std::optional<Mad> mad = packet.get<Mad>();
  if (!mad) return;
  asked_transaction = mad->transaction_id;
  if (const auto req = packet.get<CmReq>()) {
    remote = req->local_comm_id;
    request_transaction = mad->transaction_id;
  } else if (const auto rep = packet.get<CmRep>()) {
    remote = rep->local_comm_id;
  }
}

std::optional<Value> CmTalk::find(std::string_view name, const Port& port) const {
  if (name == "local_id") return Value::number(local.value());
  if (name == "remote_id") return Value::number(remote.value());
  if (name == "tid") return Value::number(request_transaction);
  if (name == "asked_tid") return Value::number(asked_transaction);
  if (name == "guid") return Value::number(ca_guid);
  if (name == "service") return Value::number(service.value());
  if (name == "cma") {
    std::array<std::byte, kSize<Cma>> bytes{};
    write(address_header(port), bytes.data());
    return Value::word(hex_text(bytes));
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> CmTalk::fields_of(HeaderId message, const Port& port) const {
  Fields fields{header_info(message).name};
  const auto* const attribute =
      std::ranges::find(kMessages, message, [](const auto& each) { return cm_header_id(each.second); });
  fields.put_mad(attribute->second, answers_device(message) ? asked_transaction : request_transaction);
  if (message == HeaderId::cm_sidr_req || message == HeaderId::cm_sidr_rep) {
    fields.put("request_id", message == HeaderId::cm_sidr_req ? local.value() : remote.value());
    fields.put("service_id", service.value());
    if (message == HeaderId::cm_sidr_req) fields.put_addresses(port);
    return fields.take();
  }
  if (message == HeaderId::cm_req) {
    fill_request(fields, *this, port);
    return fields.take();
  }
  fields.put("local_comm_id", local.value());
  fields.put("remote_comm_id", remote.value());
  if (message == HeaderId::cm_rep) fill_reply(fields, *this);
  if (message == HeaderId::cm_mra) {
    fields.put("message", 1);
    fields.put("service_timeout", 20);
  }
  if (message == HeaderId::cm_rej) {
    fields.put("message", 1);
    fields.put("reason", 28);
  }
  if (message == HeaderId::cm_dreq || message == HeaderId::cm_lap) fields.put("remote_qpn", remote_qpn.value());
  return fields.take();
}

}  // namespace roce::conform
