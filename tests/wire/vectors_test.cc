// SPDX-License-Identifier: BSD-2-Clause
#include "support/vectors.h"

#include <gtest/gtest.h>

#include <sstream>

#include "roce/wire/fields.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "support/hex.h"

namespace roce {
namespace {

/// The contents of a vector, written down independently of its bytes.
struct Expected {
  test::Vector vector;
  RoceVersion version;
  std::string_view opcode;
  std::string_view layers;
  std::size_t payload;
  std::size_t pad;
  std::uint32_t icrc;       ///< as its four bytes are read from left to right
  std::string_view fields;  ///< `header.field=text`, separated by blanks
};

constexpr std::array kExpected{
    Expected{
        test::kC1, RoceVersion::v2_ipv4, "CNP", "eth ip udp bth cnp", 0, 0, 0x82fd002a,
        "eth.dst=e4:1d:2d:ab:2b:c2 eth.src=7c:fe:90:64:3b:32 ip.dscp=48 ip.ecn=2 ip.id=0x718c ip.df=true ip.ttl=64 "
        "ip.src=10.0.17.1 ip.dst=10.0.18.1 ip.checksum=0x9161 udp.srcport=0 udp.dstport=4791 udp.length=40 "
        "bth.opcode=0x81 bth.becn=true bth.fecn=false bth.dest_qp=0x000118 bth.psn=0 bth.p_key=0xffff "
        "cnp.reserved=00000000000000000000000000000000"},
    Expected{test::kC2, RoceVersion::v1, "RC_WRITE_ONLY", "eth grh bth reth", 5, 3, 0xe3d856bb,
             "eth.type=0x8915 grh.payload_length=40 grh.next_header=27 grh.hop_limit=64 grh.sgid=15.0.0.2 "
             "grh.dgid=15.0.0.2 bth.se=false bth.mig_req=true bth.pad_count=3 bth.dest_qp=0x00010a bth.ack_req=true "
             "bth.psn=10979516 reth.va=0x000055d4c0726000 reth.r_key=0x000047b3 reth.dma_length=5"},
    Expected{test::kC3, RoceVersion::v1, "RC_ACKNOWLEDGE", "eth grh bth aeth", 0, 0, 0x25f0c038,
             "grh.payload_length=20 bth.mig_req=true bth.dest_qp=0x000109 bth.ack_req=false bth.psn=10979520 "
             "aeth.syndrome=0x00 aeth.msn=5"},
    Expected{test::kT1, RoceVersion::v2_ipv4, "RC_SEND_ONLY", "eth ip udp bth", 5, 3, 0x5f009a4e,
             "ip.dscp=0 ip.ecn=2 ip.total_length=52 ip.id=0x1234 ip.src=192.0.2.1 ip.dst=192.0.2.2 udp.srcport=49443 "
             "udp.length=32 udp.checksum=0x0000 bth.pad_count=3 bth.tver=0 bth.dest_qp=0x000011 bth.ack_req=true "
             "bth.psn=256"},
    Expected{test::kT2, RoceVersion::v2_ipv4, "RC_ACKNOWLEDGE", "eth ip udp bth aeth", 0, 0, 0xbf163e86,
             "udp.srcport=50262 bth.dest_qp=0x000012 bth.psn=256 bth.ack_req=false aeth.syndrome=0x1f aeth.msn=1"},
    Expected{test::kT3, RoceVersion::v2_ipv6, "RC_WRITE_ONLY", "eth ipv6 udp bth reth", 4, 0, 0xe5b063f1,
             "ipv6.version=6 ipv6.dscp=0 ipv6.ecn=2 ipv6.flow_label=0x12345 ipv6.payload_length=44 ipv6.next_header=17 "
             "ipv6.hop_limit=64 ipv6.src=2001:db8::1 ipv6.dst=2001:db8::2 bth.psn=16777215 "
             "reth.va=0x00007f0012345678 reth.r_key=0x00001a2b reth.dma_length=4"},
    Expected{test::kT4, RoceVersion::v2_ipv4, "RC_READ_REQUEST", "eth vlan ip udp bth reth", 0, 0, 0x7130eac7,
             "eth.type=0x8100 vlan.pcp=3 vlan.dei=false vlan.vid=100 vlan.type=0x0800 bth.psn=257 "
             "reth.va=0x0000000000001000 reth.r_key=0x00001a2b reth.dma_length=4096"},
    Expected{test::kT5, RoceVersion::v1, "RC_SEND_ONLY_IMM", "eth grh bth immdt", 4, 0, 0x53006974,
             "grh.payload_length=24 grh.hop_limit=1 grh.sgid=fe80::ff:fe00:1 grh.dgid=fe80::ff:fe00:2 bth.se=true "
             "bth.mig_req=true bth.psn=258 immdt.data=0x11223344"},
    Expected{test::kT6, RoceVersion::v2_ipv4, "RC_COMPARE_SWAP", "eth ip udp bth atomiceth", 0, 0, 0xd63aaad8,
             "bth.psn=259 atomiceth.va=0x0000000000002000 atomiceth.r_key=0x00001a2b "
             "atomiceth.swap_or_add=0x1111111122222222 atomiceth.compare=0x3333333344444444"},
    Expected{test::kT7, RoceVersion::v2_ipv6, "UD_SEND_ONLY", "eth ipv6 udp bth deth", 0, 0, 0x91023dcd,
             "bth.dest_qp=0x000001 bth.psn=0 deth.q_key=0x80010000 deth.src_qp=0x000001"},
    Expected{test::kT8, RoceVersion::v2_ipv4, "CNP", "eth ip udp bth cnp", 0, 0, 0x8228a57a,
             "ip.dscp=48 ip.ecn=0 udp.srcport=0 bth.becn=true bth.dest_qp=0x000012"},
    Expected{test::kT9, RoceVersion::v2_ipv4, "RC_SEND_ONLY", "eth ip udp bth", 0, 0, 0xc9a0905d,
             "udp.length=24 bth.pad_count=0 bth.psn=260"},
    Expected{
        test::kT10, RoceVersion::v2_ipv4, "UD_SEND_ONLY", "eth ip udp bth deth mad cm_req cma", 256, 0, 0xb304f400,
        "deth.q_key=0x80010000 deth.src_qp=0x000001 mad.base_version=1 mad.mgmt_class=0x07 mad.attribute_id=0x0010 "
        "cm_req.local_qpn=0x000011 cm_req.starting_psn=11259375 cma.ip_version=4 cma.source_port=50000 "
        "cma.source_address=::c000:201 cma.destination_address=::c000:202"},
    Expected{test::kT11, RoceVersion::v2_ipv4, "UD_SEND_ONLY", "eth ip udp bth deth mad cm_rep", 256, 0, 0xb25d045e,
             "mad.attribute_id=0x0013 cm_rep.local_qpn=0x000012 cm_rep.starting_psn=1193046"},
    Expected{test::kS1, RoceVersion::v2_ipv4, "UC_SEND_ONLY", "eth ip udp bth", 18, 2, 0x78f353f3,
             "udp.srcport=49152 udp.checksum=0xaca2 bth.psn=13571856 bth.dest_qp=0x0000d3"},
};

class Vectors : public testing::TestWithParam<Expected> {};

TEST_P(Vectors, ParseIntoTheirNumbers) {
  const Expected& expected = GetParam();
  const std::vector<std::byte> frame = test::from_hex(expected.vector.hex);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(packet.problem().reason, ParseReason::none) << to_string(packet.problem());
  EXPECT_EQ(packet.kind(), PacketKind::roce);
  EXPECT_EQ(packet.version(), expected.version);
  EXPECT_EQ(packet.info().name, expected.opcode);
  EXPECT_EQ(packet.payload().size(), expected.payload);
  EXPECT_EQ(packet.pad().size(), expected.pad);
  EXPECT_EQ(packet.trailer().size(), 0U);
  EXPECT_EQ(packet.icrc_offset(), frame.size() - 4);
  EXPECT_EQ(__builtin_bswap32(packet.stored_icrc()), expected.icrc);

  std::string layers;
  for (const Layer& layer : packet.layers()) {
    layers += (layers.empty() ? "" : " ") + std::string{header_info(layer.id).name};
  }
  EXPECT_EQ(layers, expected.layers);

  std::istringstream fields{std::string{expected.fields}};
  for (std::string item; fields >> item;) {
    const std::size_t dot = item.find('.');
    const std::size_t equals = item.find('=');
    const HeaderInfo* header = find_header(item.substr(0, dot));
    ASSERT_NE(header, nullptr) << item;
    const FieldInfo* field = find_field(*header, item.substr(dot + 1, equals - dot - 1));
    ASSERT_NE(field, nullptr) << item;
    const auto layer = packet.find(header->id);
    ASSERT_TRUE(layer) << item;
    EXPECT_EQ(field_text(*field, packet.layer_bytes(*layer)), item.substr(equals + 1)) << item;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Vectors, testing::ValuesIn(kExpected),
                         [](const auto& row) { return std::string{row.param.vector.name}; });

TEST(VectorList, IsExpectedCompletely) {
  ASSERT_EQ(kExpected.size(), test::kVectors.size());
  for (std::size_t i = 0; i < kExpected.size(); ++i) EXPECT_EQ(kExpected[i].vector.name, test::kVectors[i].name);
}

TEST(VectorList, HelloIsThePayloadOfT1) {
  const auto frame = test::from_hex(test::kT1.hex);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(test::to_hex(packet.payload()), "68656c6c6f");
  EXPECT_EQ(test::to_hex(packet.pad()), "000000");
  EXPECT_EQ(packet.bth_offset(), 42U);
  EXPECT_EQ(packet.payload_offset(), 54U);
  EXPECT_EQ(packet.network_offset(), 14U);
  EXPECT_EQ(packet.network_header(), HeaderId::ipv4);
}

class IcrcOfVector : public testing::TestWithParam<test::Vector> {};

TEST_P(IcrcOfVector, IsGood) {
  const std::vector<std::byte> frame = test::from_hex(GetParam().hex);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);
}

INSTANTIATE_TEST_SUITE_P(Vectors, IcrcOfVector, testing::ValuesIn(test::kVectors),
                         [](const auto& vector) { return std::string{vector.param.name}; });

}  // namespace
}  // namespace roce
