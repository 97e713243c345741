// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/device_frame.h"

namespace roce::conform {

void set_addresses(PacketSpec& spec, const Port& port) {
  const bool is_v1 = port.version == RoceVersion::v1;
  const bool is_ipv4 = port.version == RoceVersion::v2_ipv4;
  const auto set = [&spec](std::string_view name, const std::string& text) { (void)spec.set(name, text); };
  set("eth.dst", to_string(port.device_mac));
  set("eth.src", to_string(port.tester_mac));
  set(is_v1 ? "grh.sgid" : is_ipv4 ? "ip.src" : "ipv6.src", to_string(port.tester_gid));
  set(is_v1 ? "grh.dgid" : is_ipv4 ? "ip.dst" : "ipv6.dst", to_string(port.device_gid));
  if (!is_v1) set("udp.srcport", "50000");
}

std::vector<std::byte> frame_to_device(const Port& port, Opcode opcode,
                                       const std::vector<std::pair<std::string_view, std::string>>& values) {
  PacketSpec spec = PacketSpec::for_opcode(opcode, port.version);
  const auto set = [&spec](std::string_view name, const std::string& text) { (void)spec.set(name, text); };
  set_addresses(spec, port);
  set("bth.mig_req", "true");
  for (const auto& [name, text] : values) set(name, text);
  return spec.build().value_or(std::vector<std::byte>{});
}

Cma address_header(const Port& port) {
  const bool is_ipv4 = port.device_gid.is_ipv4_mapped();
  const auto form = [&](const Gid& gid) { return is_ipv4 ? Cma::from_ipv4(gid.ipv4()) : gid; };
  return {.ip_version = static_cast<std::uint8_t>(is_ipv4 ? 4 : 6),
          .source_port = 50'000,
          .source_address = form(port.tester_gid),
          .destination_address = form(port.device_gid)};
}

}  // namespace roce::conform
