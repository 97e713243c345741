// SPDX-License-Identifier: BSD-2-Clause
#include "made_frames.h"

#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "roce/link/capture_writer.h"
#include "roce/wire/packet_spec.h"
#include "support/coalesce.h"

namespace roce::test {

namespace {

using Values = std::initializer_list<std::pair<std::string, std::string>>;

template <typename T>
T need(SpecResult<T> result) {
  if (!result) throw std::logic_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

PacketSpec with(PacketSpec spec, Values values) {
  for (const auto& [name, value] : values) need(spec.set(name, value));
  return spec;
}

/// Sets the two hosts that all made packets have, in a tunnel too (RFC 5737, RFC 3849).
PacketSpec addressed(PacketSpec spec) {
  for (const char* index : {"", "[1]"}) {
    const auto set = [&](std::string_view header, std::string_view field, std::string_view value) {
      const std::string name = std::string{header} + index + '.' + std::string{field};
      if (spec.get(name)) need(spec.set(name, value));
    };
    set("eth", "dst", "02:00:00:00:00:02");
    set("eth", "src", "02:00:00:00:00:01");
    set("ip", "src", "192.0.2.1");
    set("ip", "dst", "192.0.2.2");
    set("ipv6", "src", "2001:db8::1");
    set("ipv6", "dst", "2001:db8::2");
    set("grh", "sgid", "2001:db8::1");
    set("grh", "dgid", "2001:db8::2");
    set("udp", "srcport", "49458");
    set("bth", "dest_qp", "0x12");
  }
  return spec;
}

PacketSpec packet(Opcode opcode, RoceVersion version, Values values = {}) {
  return with(addressed(PacketSpec::for_opcode(opcode, version)), values);
}

PacketSpec chain(std::string_view headers, Values values = {}) {
  PacketSpec spec;
  need(spec.set("headers", headers));
  return with(addressed(std::move(spec)), values);
}

MadeFrame frame(const PacketSpec& spec, std::string comment, LinkType link_type = LinkType::ethernet) {
  return {need(spec.build()), std::move(comment), link_type, spec.get("icrc") == "auto"};
}

/// Sets values by which the fields of each header can be told apart.
PacketSpec filled(PacketSpec spec) {
  for (const auto& [name, value] : Values{{"reth.va", "0x7f0012345678"},
                                          {"reth.r_key", "0x1a2b"},
                                          {"reth.dma_length", "16"},
                                          {"atomiceth.va", "0x7f0012345678"},
                                          {"atomiceth.r_key", "0x1a2b"},
                                          {"atomiceth.swap_or_add", "0x1111111122222222"},
                                          {"atomiceth.compare", "0x3333333344444444"},
                                          {"atomicacketh.original", "0x5555555566666666"},
                                          {"aeth.msn", "5"},
                                          {"immdt.data", "0x11223344"},
                                          {"ieth.r_key", "0x3c4d"},
                                          {"deth.q_key", "0x11111111"},
                                          {"deth.src_qp", "0x11"},
                                          {"rdeth.ee_context", "0x77"},
                                          {"xrceth.xrcsrq", "0x99"},
                                          {"feth.persistence", "true"},
                                          {"feth.visibility", "true"}}) {
    if (spec.get(name)) need(spec.set(name, value));
  }
  return spec;
}

MadeCapture every_opcode(std::string name, RoceVersion version) {
  MadeCapture capture{std::move(name), {}};
  std::uint32_t psn = 0x100;
  for (const ValueName& row : kOpcodeNames) {
    const auto opcode = static_cast<Opcode>(row.value);
    if (opcode == Opcode::cnp && version == RoceVersion::v1) continue;  // RoCE v2 only
    PacketSpec spec = filled(packet(opcode, version, {{"bth.psn", std::to_string(psn++)}}));
    const PayloadRule rule = opcode_info(opcode).payload;
    if (rule == PayloadRule::exactly_mtu) need(spec.set("payload_length", "256"));
    if (rule == PayloadRule::one_to_mtu || rule == PayloadRule::zero_to_mtu) need(spec.set("payload_length", "13"));
    capture.frames.push_back(frame(spec, std::string{row.name} + ", path MTU 256"));
  }
  return capture;
}

MadeCapture link_control() {
  MadeCapture capture{"link-control", {}};
  const auto add = [&](std::string_view headers, Values values, std::string comment) {
    PacketSpec spec = with(chain(headers), {{"icrc", "none"}});
    capture.frames.push_back(frame(with(std::move(spec), values), std::move(comment)));
  };
  constexpr const char* mac_control = "01:80:c2:00:00:01";
  const std::string padding(52, '0');
  add("eth mac_control pfc",
      {{"eth.dst", mac_control},
       {"mac_control.opcode", "PFC"},
       {"pfc.enable3", "true"},
       {"pfc.timer3", "65535"},
       {"pfc.enable4", "true"},
       {"payload", padding}},
      "PFC: priority 3 paused for 65535 quanta, priority 4 resumed");
  add("eth mac_control pause",
      {{"eth.dst", mac_control},
       {"mac_control.opcode", "PAUSE"},
       {"pause.quanta", "255"},
       {"payload", std::string(84, '0')}},
      "802.3x PAUSE of 255 quanta");
  // Chassis and port by MAC address, TTL 120; ETS with priority 3 in TC 1 and half the bandwidth for each, both as
  // configuration and recommendation; PFC on priority 3; applications: RoCE v1 by EtherType, v2 by UDP port, DSCP 26.
  add("eth",
      {{"eth.dst", "01:80:c2:00:00:0e"},
       {"eth.type", "LLDP"},
       {"payload",
        "0207040200000000010407030200000000010602"
        "0078"
        "fe190080c209800001000032320000000000000202000000000000"
        "fe190080c20a000001000032320000000000000202000000000000"
        "fe060080c20b8808"
        "fe0e0080c20c00618915"
        "6312b7"
        "65001a"
        "0000"}},
      "LLDP with DCBX: ETS configuration and recommendation, PFC, three application priorities");
  add("eth vlan cnm", {{"vlan.pcp", "6"}, {"vlan.vid", "100"}, {"vlan.type", "CNM"}, {"payload", std::string(64, '0')}},
      "802.1Qau congestion notification message");
  capture.frames.push_back(frame(packet(Opcode::cnp, RoceVersion::v2_ipv4, {{"ip.dscp", "48"}}), "CNP"));
  capture.frames.push_back(frame(packet(Opcode::cnp, RoceVersion::v2_ipv6, {{"ipv6.dscp", "48"}}), "CNP over IPv6"));
  return capture;
}

MadeCapture encapsulations() {
  MadeCapture capture{"encapsulations", {}};
  const auto add = [&](std::string_view headers, std::string comment, Values values = {},
                       LinkType link_type = LinkType::ethernet) {
    PacketSpec spec = filled(chain(headers, {{"bth.opcode", "RC_WRITE_ONLY"}, {"payload_length", "16"}}));
    capture.frames.push_back(frame(with(std::move(spec), values), std::move(comment), link_type));
  };
  const std::string ipv4 = "ip udp bth reth";
  add("eth vlan " + ipv4, "one 802.1Q tag", {{"vlan.vid", "100"}, {"vlan.pcp", "3"}});
  add("eth vlan vlan " + ipv4, "802.1ad outside 802.1Q",
      {{"eth.type", "802.1ad"}, {"vlan.vid", "7"}, {"vlan[1].vid", "8"}});
  add("eth cn_tag " + ipv4, "a congestion notification tag", {{"cn_tag.flow_id", "5"}});
  add("eth ip ip_options udp bth reth", "IPv4 options (router alert)",
      {{"ip.header_length", "6"}, {"ip_options", "94040000"}});
  add("eth ipv6 ipv6_extension udp bth reth", "an IPv6 destination options header",
      {{"ipv6.next_header", "Options"}, {"ipv6_extension", "1100010400000000"}});
  add("eth grh bth reth", "RoCE v1");
  add("eth ip udp vxlan eth " + ipv4, "VXLAN", {{"vxlan.vni", "42"}});
  add("eth ip udp vxlan eth ipv6 udp bth reth", "VXLAN, RoCE v2 over IPv6 inside", {{"vxlan.vni", "42"}});
  add("eth ip udp geneve geneve_options eth " + ipv4, "GENEVE with one option",
      {{"geneve.option_length", "2"}, {"geneve_options", "0103000100000001"}, {"geneve.vni", "43"}});
  add("eth ip gre eth " + ipv4, "Ethernet in GRE");
  add("eth ip gre gre_options " + ipv4, "IPv4 in GRE with checksum, key and sequence number",
      {{"gre.checksum_present", "true"},
       {"gre.key_present", "true"},
       {"gre.sequence_present", "true"},
       {"gre_options", "000000000000002a00000001"}});
  add("eth ip gre gre_options erspan2 eth " + ipv4, "ERSPAN II",
      {{"gre.sequence_present", "true"},
       {"gre_options", "00000001"},
       {"gre.protocol", "ERSPAN II"},
       {"erspan2.session_id", "9"}});
  add("eth ip gre gre_options erspan3 erspan3_subheader eth " + ipv4, "ERSPAN III with a platform subheader",
      {{"gre.sequence_present", "true"},
       {"gre_options", "00000001"},
       {"gre.protocol", "ERSPAN III"},
       {"erspan3.subheader_present", "true"},
       {"erspan3_subheader", "0000000000000000"}});
  add("eth mpls mpls " + ipv4, "two MPLS labels", {{"mpls.label", "16"}, {"mpls[1].label", "17"}});
  add("eth mpls pw_control_word eth " + ipv4, "an Ethernet pseudowire over MPLS",
      {{"mpls.label", "18"}, {"pw_control_word", "00000000"}});
  add("eth ip " + ipv4, "IPv4 in IPv4");
  add(ipv4, "raw IP", {}, LinkType::raw_ip);
  add("sll " + ipv4, "Linux cooked v1", {}, LinkType::linux_sll);
  add("sll2 " + ipv4, "Linux cooked v2", {}, LinkType::linux_sll2);
  add("eth " + ipv4, "behind the ICRC, padding to the smallest frame",
      {{"opcode", "RC_ACKNOWLEDGE"}, {"payload", ""}, {"trailer", "00000000"}});
  return capture;
}

MadeCapture super_frames() {
  MadeCapture capture{"super-frames", {}};
  const auto add = [&](Opcode opcode, RoceVersion version, std::size_t length, unsigned count, unsigned ip_id_step,
                       std::string comment) {
    std::vector<Frame> frames;
    for (unsigned i = 0; i < count; ++i) {
      PacketSpec spec = filled(packet(
          opcode, version, {{"bth.psn", std::to_string(0x200 + i)}, {"payload_length", std::to_string(length)}}));
      if (version == RoceVersion::v2_ipv4) need(spec.set("ip.id", std::to_string(1000 + i * ip_id_step)));
      frames.push_back(need(spec.build()));
    }
    capture.frames.push_back({coalesce(frames), std::move(comment)});
  };
  add(Opcode::rc_send_middle, RoceVersion::v2_ipv4, 1024, 8, 1, "before segmentation: 8 packets, the IP ID counts up");
  add(Opcode::rc_write_middle, RoceVersion::v2_ipv4, 4096, 4, 0, "after coalescing: 4 packets with one IP ID");
  add(Opcode::rc_send_only, RoceVersion::v2_ipv4, 100, 3, 1, "3 small packets");
  add(Opcode::rc_read_response_middle, RoceVersion::v2_ipv6, 1024, 5, 0, "5 packets over IPv6");
  return capture;
}

MadeCapture wrong_on_purpose() {
  MadeCapture capture{"wrong-on-purpose", {}};
  const auto add = [&](Values values, std::string comment) {
    PacketSpec spec = packet(Opcode::rc_send_only, RoceVersion::v2_ipv4, {{"payload", "68656c6c6f"}});
    capture.frames.push_back(frame(with(std::move(spec), values), std::move(comment)));
  };
  add({}, "right, for comparison");
  add({{"icrc", "wrong"}}, "ICRC: every bit inverted, as if the final inversion were missing");
  add({{"bth.pad_count", "1"}}, "pad count 1 where 3 bytes of pad follow");
  add({{"pad", "ffffff"}}, "pad bytes that are not zero");
  add({{"bth.reserved2", "0x7f"}}, "reserved bits set");
  add({{"bth.tver", "15"}}, "transport header version 15");
  add({{"opcode", "0x1f"}}, "an opcode that no specification defines");
  add({{"headers", "eth ip udp bth aeth reth"}, {"bth.opcode", "RC_SEND_ONLY"}},
      "AETH and RETH behind an opcode that has neither");
  return capture;
}

}  // namespace

std::vector<MadeCapture> made_captures() {
  return {every_opcode("opcodes-v2-ipv4", RoceVersion::v2_ipv4),
          every_opcode("opcodes-v2-ipv6", RoceVersion::v2_ipv6),
          every_opcode("opcodes-v1", RoceVersion::v1),
          link_control(),
          encapsulations(),
          super_frames(),
          wrong_on_purpose()};
}

std::string write_capture(const MadeCapture& capture, const std::string& path) {
  link::CaptureWriterOptions options;
  options.application = "make_captures of the RoCE toolkit";
  auto writer = link::CaptureWriter::create(path, options);
  if (!writer) return writer.error().message;
  std::vector<LinkType> interfaces{LinkType::ethernet};
  std::int64_t time = 1'700'000'000'000'000'000;
  for (const MadeFrame& made : capture.frames) {
    std::size_t interface = 0;
    while (interface < interfaces.size() && interfaces[interface] != made.link_type) ++interface;
    if (interface == interfaces.size()) {
      interfaces.push_back(made.link_type);
      link::CaptureInterface described;
      described.link_type = static_cast<std::uint16_t>(made.link_type);
      if (const auto added = writer->add_interface(described); !added) return added.error().message;
    }
    link::CaptureRecord record;
    record.bytes = made.bytes;
    record.timestamp_ns = time += 1000;
    record.original_length = static_cast<std::uint32_t>(made.bytes.size());
    record.interface_id = static_cast<std::uint32_t>(interface);
    record.link_type = static_cast<std::uint16_t>(made.link_type);
    record.comment = made.comment;
    if (const auto written = writer->write(record); !written) return written.error().message;
  }
  if (const auto closed = writer->close(); !closed) return closed.error().message;
  return {};
}

}  // namespace roce::test
