// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/packet_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "roce/wire/all_headers.h"
#include "roce/wire/icrc.h"
#include "support/hex.h"
#include "support/vectors.h"

namespace roce {
namespace {

using testing::HasSubstr;

std::vector<std::byte> built(const PacketSpec& spec) {
  const SpecResult<std::vector<std::byte>> bytes = spec.build();
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes.value_or(std::vector<std::byte>{});
}

void set(PacketSpec& spec, std::string_view name, std::string_view value) {
  const SpecResult<void> done = spec.set(name, value);
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

std::string error_of(PacketSpec spec, std::string_view name, std::string_view value) {
  const PacketSpec before = spec;
  const SpecResult<void> done = spec.set(name, value);
  EXPECT_FALSE(done.has_value()) << name << " took " << value;
  EXPECT_EQ(spec, before) << "a refused value must change nothing";
  return done ? "" : done.error().message;
}

class PacketSpecOfVector : public testing::TestWithParam<test::Vector> {};

TEST_P(PacketSpecOfVector, BuildsTheSameBytes) {
  const std::vector<std::byte> frame = test::from_hex(GetParam().hex);
  const PacketSpec spec = PacketSpec::from_packet(parse_frame(frame, LinkType::ethernet));
  EXPECT_EQ(built(spec), frame);
  EXPECT_EQ(spec.get("icrc"), "auto") << "a right ICRC is not kept but computed";
  EXPECT_EQ(spec.get("bth.pad_count"), "auto");
}

TEST_P(PacketSpecOfVector, SurvivesItsTextForm) {
  const std::vector<std::byte> frame = test::from_hex(GetParam().hex);
  const PacketSpec spec = PacketSpec::from_packet(parse_frame(frame, LinkType::ethernet));
  const SpecResult<PacketSpec> again = PacketSpec::from_text(spec.to_text());
  ASSERT_TRUE(again.has_value()) << again.error().message << '\n' << spec.to_text();
  EXPECT_EQ(*again, spec) << spec.to_text();
  EXPECT_EQ(built(*again), frame);
}

TEST_P(PacketSpecOfVector, BuildsTheSameBytesOfAnyDamagedFrame) {
  const std::vector<std::byte> original = test::from_hex(GetParam().hex);
  std::mt19937 random{1};
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> frame = original;
    for (int i = 0; i < 3; ++i) frame[random() % frame.size()] = static_cast<std::byte>(random());
    frame.resize(round % 2 == 0 ? frame.size() : random() % (frame.size() + 1));
    const auto reported = static_cast<std::uint32_t>(frame.size() + (round % 3 == 0 ? random() % 64 : 0));
    const PacketSpec spec = PacketSpec::from_packet(parse_frame(frame, LinkType::ethernet, reported));
    ASSERT_EQ(built(spec), frame);
    const SpecResult<PacketSpec> again = PacketSpec::from_text(spec.to_text());
    ASSERT_TRUE(again.has_value()) << again.error().message;
    ASSERT_EQ(built(*again), frame) << spec.to_text();
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, PacketSpecOfVector, testing::ValuesIn(test::kVectors),
                         [](const auto& vector) { return std::string{vector.param.name}; });

TEST(PacketSpec, MakesALegalPacketOfEveryOpcode) {
  for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    for (unsigned code = 0; code < 256; ++code) {
      const auto opcode = static_cast<Opcode>(code);
      PacketSpec spec = PacketSpec::for_opcode(opcode, version);
      const bool takes_payload = payload_fits(opcode_info(opcode).payload, 256, 256);
      if (takes_payload) set(spec, "payload_length", "256");
      const std::vector<std::byte> frame = built(spec);
      const Packet packet = parse_frame(frame, LinkType::ethernet);
      ASSERT_EQ(packet.problem().reason, ParseReason::none) << code << ' ' << to_string(packet.problem());
      EXPECT_EQ(packet.version(), version);
      EXPECT_EQ(packet.opcode(), opcode);
      EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good) << code;
      EXPECT_TRUE(payload_fits(packet.info().payload, packet.payload_length(), 256)) << code;
      EXPECT_EQ(PacketSpec::from_packet(packet), spec) << code;
    }
  }
}

TEST(PacketSpec, ComputesWhatFollowsFromTheRest) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_write_only);
  set(spec, "payload", "0102030405");
  set(spec, "ip.ttl", "1");
  const std::vector<std::byte> frame = built(spec);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(packet.bth().pad_count, 3);
  EXPECT_EQ(packet.get<Ipv4>()->total_length, 20 + 8 + 12 + 16 + 8 + 4);
  EXPECT_EQ(packet.get<Udp>()->length, 8 + 12 + 16 + 8 + 4);
  EXPECT_EQ(packet.get<Ipv4>()->ttl, 1);
  EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);
}

TEST(PacketSpec, BuildsIllegalPacketsOnRequest) {
  const auto parse_of = [](const PacketSpec& spec, std::vector<std::byte>& bytes) {
    bytes = built(spec);
    return parse_frame(bytes, LinkType::ethernet);
  };
  std::vector<std::byte> bytes;

  PacketSpec wrong_icrc = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(wrong_icrc, "icrc", "wrong");
  EXPECT_EQ(check_icrc(parse_of(wrong_icrc, bytes)).status, IcrcStatus::bad);

  PacketSpec wrong_pad = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(wrong_pad, "payload", "0102030405");
  set(wrong_pad, "bth.pad_count", "1");
  Packet packet = parse_of(wrong_pad, bytes);
  EXPECT_EQ(packet.bth().pad_count, 1);
  EXPECT_EQ(packet.payload_length(), 7U) << "the pad is still three bytes, of which the header owns up to one";
  EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);

  PacketSpec dirty_pad = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(dirty_pad, "payload", "01");
  set(dirty_pad, "pad", "ffffff");
  packet = parse_of(dirty_pad, bytes);
  EXPECT_EQ(packet.pad()[0], std::byte{0xFF});
  EXPECT_EQ(built(PacketSpec::from_packet(packet)), bytes);

  PacketSpec reserved = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(reserved, "bth.reserved2", "0x7f");
  EXPECT_EQ(parse_of(reserved, bytes).bth().reserved2, 0x7F);

  PacketSpec chain = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(chain, "headers", "eth ip udp bth aeth reth");
  set(chain, "bth.opcode", "RC_SEND_ONLY");
  packet = parse_of(chain, bytes);
  EXPECT_EQ(packet.payload_length(), 4U + 16U) << "to the opcode, the two headers are payload";
  EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);

  PacketSpec length = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(length, "udp.length", "7");
  EXPECT_EQ(parse_of(length, bytes).problem().reason, ParseReason::bad_length);
}

TEST(PacketSpec, ExchangesTheHeadersWithTheOpcode) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_only);
  set(spec, "opcode", "RC_COMPARE_SWAP");
  EXPECT_EQ(spec.get("headers"), "eth ip udp bth atomiceth");
  set(spec, "opcode", "0x11");
  EXPECT_EQ(spec.get("headers"), "eth ip udp bth aeth");
}

TEST(PacketSpec, NamesTheSecondHeaderOfAKind) {
  PacketSpec spec;
  set(spec, "headers", "eth vlan vlan ip udp vxlan eth ip udp bth");
  set(spec, "bth.opcode", "RC_SEND_ONLY");
  set(spec, "vlan.vid", "5");
  set(spec, "vlan[1].vid", "6");
  set(spec, "ip[1].dst", "192.0.2.7");
  const std::vector<std::byte> frame = built(spec);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(packet.problem().reason, ParseReason::none) << to_string(packet.problem());
  EXPECT_EQ(packet.get<VlanTag>()->vlan_id, 6) << "the innermost";
  EXPECT_EQ(to_string(packet.get<Ipv4>()->destination), "192.0.2.7");
  EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);
  EXPECT_EQ(spec.get("vlan.vid"), "5");
}

TEST(PacketSpec, ReachesTheCmaHeaderInsideAConnectionRequest) {
  const std::vector<std::byte> frame = test::from_hex(test::kT10.hex);
  PacketSpec spec = PacketSpec::from_packet(parse_frame(frame, LinkType::ethernet));
  EXPECT_EQ(spec.get("cma.source_port"), "50000");
  set(spec, "cma.source_port", "4660");
  const std::vector<std::byte> changed = built(spec);
  EXPECT_EQ(parse_frame(changed, LinkType::ethernet).get<Cma>()->source_port, 4660);
  EXPECT_EQ(built(*PacketSpec::from_text(spec.to_text())), changed);
  set(spec, "opcode", "UD_SEND_ONLY_IMM");
  EXPECT_EQ(spec.get("cma.source_port"), "4660") << "exchanging headers in front must not move the name elsewhere";
}

// Each field in the field table can be named, read, and set to each of two values.
TEST(PacketSpec, KnowsEveryFieldOfEveryHeader) {
  for (const HeaderInfo& header : header_table()) {
    if (header.fields.empty()) continue;
    PacketSpec spec;
    set(spec, "headers", header.name);
    set(spec, "icrc", "none");
    for (const FieldInfo& field : header.fields) {
      const std::string name = std::string{header.name} + '.' + std::string{field.name};
      EXPECT_TRUE(spec.get(name).has_value()) << name;
      for (const char* value : {"1", "0"}) {
        const std::string text = is_octets(field) ? "" : value;
        if (!text.empty()) {
          set(spec, name, text);
          EXPECT_EQ(field_number(field, built(spec)), text == "1" ? 1U : 0U) << name;
        }
      }
    }
    EXPECT_EQ(spec.names().size(), header.fields.size() + 4);
  }
}

TEST(PacketSpec, RefusesWhatItCannotDo) {
  const PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_send_only);
  EXPECT_THAT(error_of(spec, "bth.psn", "0x1000000"), HasSubstr("0 … 16777215"));
  EXPECT_THAT(error_of(spec, "bth.psn", "x"), HasSubstr("bth.psn: expected"));
  EXPECT_THAT(error_of(spec, "bth.nonsense", "1"), HasSubstr("it has opcode se mig_req"));
  EXPECT_THAT(error_of(spec, "nonsense.psn", "1"), HasSubstr("there is no header"));
  EXPECT_THAT(error_of(spec, "reth.va", "1"), HasSubstr("it has eth ip udp bth"));
  EXPECT_THAT(error_of(spec, "ip[1].ttl", "1"), HasSubstr("no such header"));
  EXPECT_THAT(error_of(spec, "ip[x].ttl", "1"), HasSubstr("index"));
  EXPECT_THAT(error_of(spec, "ip.src", "1.2.3"), HasSubstr("IPv4 address"));
  EXPECT_THAT(error_of(spec, "eth.dst", "02:00"), HasSubstr("MAC address"));
  EXPECT_THAT(error_of(spec, "payload", "abc"), HasSubstr("hex digits"));
  EXPECT_THAT(error_of(spec, "payload_length", "70000"), HasSubstr("65535"));
  EXPECT_THAT(error_of(spec, "icrc", "good"), HasSubstr("auto, wrong, none"));
  EXPECT_THAT(error_of(spec, "opcode", "RC_NOTHING"), HasSubstr("RC_SEND_ONLY"));
  EXPECT_THAT(error_of(spec, "headers", "eth nothing"), HasSubstr("'nothing'"));
  EXPECT_THAT(error_of(spec, "bth.psn", "auto"), HasSubstr("not computed"));
  EXPECT_THAT(PacketSpec::from_text("bth.psn 1").error().message, HasSubstr("line 1"));
  EXPECT_THAT(PacketSpec::from_text("headers: eth\n\neth.dst: 1\n").error().message, HasSubstr("line 3: eth.dst"));

  PacketSpec no_network;
  set(no_network, "headers", "bth");
  EXPECT_THAT(no_network.build().error().message, HasSubstr("set icrc to a number or none"));
  PacketSpec too_long = spec;
  set(too_long, "payload_length", "65535");
  EXPECT_THAT(too_long.build().error().message, HasSubstr("65535 at most"));
}

}  // namespace
}  // namespace roce
