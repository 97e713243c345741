// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/packet_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "roce/wire/all_headers.h"
#include "support/hex.h"

namespace roce {
namespace {

using testing::HasSubstr;

constexpr std::array kVersions{RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6};

std::vector<std::byte> built(const PacketSpec& spec) {
  return spec.build().value_or(std::vector<std::byte>{});
}

/// A random value of a field, as text that `PacketSpec::set` takes and as a number or octets.
struct AnyValue {
  std::string text;
  std::uint64_t number = 0;
  std::vector<std::byte> octets;
};

AnyValue any_value(const SpecField& row, std::mt19937_64& random) {
  std::vector<std::byte> header(row.header->size);
  for (std::byte& byte : header) byte = static_cast<std::byte>(random() & 0xFF);
  AnyValue value{field_text(*row.field, header), 0, {}};
  if (is_octets(*row.field)) {
    const Bytes octets = field_octets(*row.field, header);
    value.octets.assign(octets.begin(), octets.end());
  } else {
    value.number = field_number(*row.field, header);
  }
  return value;
}

TEST(PacketTemplate, SetsEachFieldToTheBytesThatTheSpecificationBuilds) {
  std::mt19937_64 random{1};
  int fields = 0;
  for (const RoceVersion version : kVersions) {
    for (int code = 0; code < 256; ++code) {
      const auto opcode = static_cast<Opcode>(code);
      if (!opcode_info(opcode).defined()) continue;
      PacketSpec spec = PacketSpec::for_opcode(opcode, version);
      ASSERT_TRUE(spec.set("payload", "0011223344").has_value());
      ASSERT_TRUE(spec.set("icrc", code % 2 == 0 ? "auto" : "wrong").has_value());
      for (const std::string& name : spec.names()) {
        const SpecResult<SpecField> row = spec.field(name);
        if (!row || row->field == nullptr) continue;
        const AnyValue value = any_value(*row, random);
        PacketSpec changed = spec;
        ASSERT_TRUE(changed.set(name, value.text).has_value()) << name << ' ' << value.text;
        // A computed field is set to something first, so that it is no longer computed.
        PacketSpec start = spec;
        if (start.get(name) == "auto") {
          ASSERT_TRUE(start.set(name, "0").has_value());
        }
        SpecResult<PacketTemplate> packet = PacketTemplate::make(start, std::vector{name});
        ASSERT_TRUE(packet.has_value()) << packet.error().message;
        const std::vector<std::byte> before{packet->bytes().begin(), packet->bytes().end()};
        if (value.octets.empty()) {
          packet->set_number(0, value.number);
        } else {
          packet->set_octets(0, value.octets);
        }
        packet->seal();
        EXPECT_EQ(test::to_hex(packet->bytes()), test::to_hex(built(changed))) << name << " = " << value.text;
        const std::vector<std::size_t> varying = packet->varying();
        ASSERT_TRUE(std::ranges::is_sorted(varying));
        for (std::size_t at = 0; at < before.size(); ++at) {
          if (before[at] == packet->bytes()[at]) continue;
          EXPECT_TRUE(std::ranges::binary_search(varying, at)) << name << " changed byte " << at;
        }
        ++fields;
      }
    }
  }
  EXPECT_GT(fields, 5000);
}

TEST(PacketTemplate, SetsTheFieldsOfEveryHeaderThatThereIs) {
  std::mt19937_64 random{1};
  int fields = 0;
  for (const HeaderInfo& header : header_table()) {
    PacketSpec spec;
    if (header.fields.empty() || !spec.set("headers", "eth " + std::string{header.name})) continue;
    ASSERT_TRUE(spec.set("icrc", "none").has_value());
    const std::string prefix = header.name == "eth" ? "eth[1]." : std::string{header.name} + '.';
    for (const FieldInfo& field : header.fields) {
      const std::string name = prefix + std::string{field.name};
      const AnyValue value = any_value({&header, &field}, random);
      PacketSpec changed = spec;
      ASSERT_TRUE(changed.set(name, value.text).has_value()) << name << ' ' << value.text;
      EXPECT_EQ(changed.get(name), value.text);
      PacketSpec start = spec;
      ASSERT_TRUE(start.get(name) != "auto" || start.set(name, "0").has_value());
      SpecResult<PacketTemplate> packet = PacketTemplate::make(start, std::vector{name});
      ASSERT_TRUE(packet.has_value()) << packet.error().message;
      if (value.octets.empty()) {
        packet->set_number(0, value.number);
      } else {
        packet->set_octets(0, value.octets);
      }
      packet->seal();
      EXPECT_EQ(test::to_hex(packet->bytes()), test::to_hex(built(changed))) << name << " = " << value.text;
      ++fields;
    }
  }
  EXPECT_GT(fields, 400);
}

TEST(PacketTemplate, SetsHeadersInsideOthers) {
  for (const auto& [headers, name] :
       std::vector<std::pair<std::string, std::string>>{{"eth vlan vlan ip udp vxlan eth ip udp bth", "ip[1].ttl"},
                                                        {"eth ip udp bth deth mad cm_req cma", "cma.source_port"},
                                                        {"eth mac_control pfc", "pfc.timer5"}}) {
    PacketSpec spec;
    ASSERT_TRUE(spec.set("headers", headers).has_value());
    const std::vector<std::string> known = spec.names();
    if (std::find(known.begin(), known.end(), name) == known.end()) continue;
    SpecResult<PacketTemplate> packet = PacketTemplate::make(spec, std::vector{name});
    ASSERT_TRUE(packet.has_value()) << packet.error().message;
    packet->set_number(0, 77);
    packet->seal();
    ASSERT_TRUE(spec.set(name, "77").has_value());
    EXPECT_EQ(test::to_hex(packet->bytes()), test::to_hex(built(spec))) << name;
  }
}

TEST(PacketTemplate, CountsInTheLastEightBytesOfAddresses) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_only, RoceVersion::v2_ipv6);
  ASSERT_TRUE(spec.set("ipv6.src", "fd00::1").has_value());
  SpecResult<PacketTemplate> packet = PacketTemplate::make(spec, std::vector<std::string>{"ipv6.src", "eth.src"});
  ASSERT_TRUE(packet.has_value());
  packet->set_number(0, 0x1234);
  packet->set_number(1, 0xFFFF'0200'0000'0007);
  packet->seal();
  ASSERT_TRUE(spec.set("ipv6.src", "fd00::1234").has_value());
  ASSERT_TRUE(spec.set("eth.src", "02:00:00:00:00:07").has_value());
  EXPECT_EQ(test::to_hex(packet->bytes()), test::to_hex(built(spec)));
}

TEST(PacketTemplate, KeepsTheIcrcRightFromPacketToPacket) {
  std::mt19937_64 random{2};
  struct Case {
    std::string headers;
    std::vector<std::string> names;
  };
  // Fields that share a byte, that the ICRC covers only in part or not at all, that lie in other headers, or of octets.
  for (const Case& one : std::vector<Case>{
           {"eth ip udp bth", {"bth.psn"}},
           {"eth ip udp bth", {"bth.ack_req", "bth.reserved2", "bth.se", "bth.fecn", "bth.psn", "bth.dest_qp"}},
           {"eth ip udp bth", {"ip.id", "ip.ttl", "ip.src", "ip.dscp", "udp.srcport", "udp.checksum", "eth.src"}},
           {"eth ip udp bth", {"eth.src", "ip.ttl"}},
           {"eth vlan ip udp bth reth", {"vlan.pcp", "reth.va", "reth.r_key"}},
           {"eth ipv6 udp bth", {"ipv6.src", "ipv6.dscp", "ipv6.flow_label", "ipv6.version"}},
           {"eth ipv6 udp bth", {"ipv6.src", "ipv6.dst", "bth.psn"}},
           {"eth grh bth deth", {"grh.dscp", "grh.sgid", "deth.q_key"}},
           {"eth ip udp vxlan eth ip udp bth", {"ip[0].ttl", "ip[1].id", "ip[1].ttl", "bth.psn"}},
           {"eth ip udp bth ip", {"ip[1].id", "bth.psn"}}}) {
    for (const char* icrc : {"auto", "wrong"}) {
      PacketSpec spec;
      ASSERT_TRUE(spec.set("headers", one.headers).has_value()) << one.headers;
      ASSERT_TRUE(spec.set("icrc", icrc).has_value());
      ASSERT_TRUE(spec.set("payload_length", "1021").has_value());
      SpecResult<PacketTemplate> packet = PacketTemplate::make(spec, one.names);
      ASSERT_TRUE(packet.has_value()) << packet.error().message;
      for (int round = 0; round < 8; ++round) {
        if (round == 2) packet->expect_many();
        // A copy goes on from the state of the original.
        if (round == 5) packet = PacketTemplate{*packet};
        for (std::size_t which = 0; which < one.names.size(); ++which) {
          if (random() % 4 == 0) continue;
          const AnyValue value = any_value(*spec.field(one.names[which]), random);
          ASSERT_TRUE(spec.set(one.names[which], value.text).has_value());
          if (value.octets.empty()) {
            packet->set_number(which, value.number);
          } else {
            packet->set_octets(which, value.octets);
          }
        }
        packet->seal();
        ASSERT_EQ(test::to_hex(packet->bytes()), test::to_hex(built(spec))) << one.headers << ", round " << round;
      }
    }
  }
}

TEST(PacketTemplate, RefusesWhatCannotChangeInPlace) {
  const PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_only);
  const auto error_of = [&](const std::string& name) {
    const auto packet = PacketTemplate::make(spec, std::vector{name});
    return packet ? std::string{} : packet.error().message;
  };
  EXPECT_THAT(error_of("ip.checksum"), HasSubstr("this field is computed"));
  EXPECT_THAT(error_of("bth.nope"), HasSubstr("has no such field; it has opcode"));
  EXPECT_THAT(error_of("reth.va"), HasSubstr("the packet has no such header"));
  EXPECT_THAT(error_of("payload"), HasSubstr("the packet has no such header"));
}

}  // namespace
}  // namespace roce
