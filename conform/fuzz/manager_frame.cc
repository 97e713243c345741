// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/manager_frame.h"

#include <fmt/format.h>

#include <string_view>

#include "conform/fuzz/manager_model.h"
#include "conform/target/device_frame.h"
#include "roce/wire/fields.h"
#include "roce/wire/packet_spec.h"

namespace roce::conform::fuzz {

namespace {

/// Sets a field that the packet has; others have no place in it.
void set(PacketSpec& spec, std::string_view name, const std::string& value) {
  if (!spec.set(name, value)) return;
}

}  // namespace

std::vector<std::byte> build_message(const Message& message, const CmTalk& talk, const Port& port) {
  const HeaderId header = *cm_message(kCmNames.at(static_cast<std::size_t>(message.kind)));
  const std::string_view name = header_info(header).name;
  PacketSpec spec = PacketSpec::for_opcode(Opcode::ud_send_only, port.version);
  const std::string headers =
      fmt::format("{} mad {}{}", spec.get("headers").value_or(""), name, message.kind == CmKind::req ? " cma" : "");
  set(spec, "headers", headers);
  set(spec, "bth.opcode", std::to_string(static_cast<unsigned>(Opcode::ud_send_only)));
  set_addresses(spec, port);
  set(spec, "bth.mig_req", "true");
  set(spec, "bth.dest_qp", "1");
  set(spec, "deth.src_qp", "1");
  set(spec, "deth.q_key", std::to_string(kQp1QKey.value()));
  CmTalk said = talk;
  said.local = CommId{said.local.value() ^ message.local_flip};
  said.remote = CommId{said.remote.value() ^ message.remote_flip};
  said.remote_qpn = Qpn{said.remote_qpn.value() ^ message.qpn_flip};
  said.request_transaction += message.transaction;
  said.asked_transaction += message.transaction;
  for (const auto& [field, value] : said.fields_of(header, port)) set(spec, field, value);
  for (const FieldChange& change : message.changes) set(spec, change.field, change.value);
  if (message.wrong_icrc) set(spec, "icrc", "wrong");
  return spec.build().value_or(std::vector<std::byte>{});
}

}  // namespace roce::conform::fuzz
