// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/cm_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "control_support.h"

namespace roce {
namespace {

using namespace control_test;

constexpr std::size_t kDataOffset = kMadOffset + kSize<Mad>;

/// Returns the 232 bytes of a CM message: those of `text`, then zeros.
std::vector<std::byte> message(std::string_view text) {
  auto bytes = from_hex(text);
  bytes.resize(232);
  return bytes;
}

template <typename H>
H parsed(Bytes bytes) {
  const auto header = parse<H>(bytes);
  EXPECT_TRUE(header);
  return header.value_or(H{});
}

Gid gid(std::string_view text) {
  Gid gid;
  const auto bytes = from_hex(text);
  std::ranges::transform(bytes, gid.octets.begin(), [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return gid;
}

constexpr Ipv4Address kActive{{192, 0, 2, 1}};
constexpr Ipv4Address kPassive{{192, 0, 2, 2}};

TEST(CmMessages, EveryBitSurvivesAndEveryRowOwnsItsBits) {
  check_header<CmReq>();
  check_header<CmMra>();
  check_header<CmRej>();
  check_header<CmRep>();
  check_header<CmRtu>();
  check_header<CmDreq>();
  check_header<CmDrep>();
  check_header<CmSidrReq>();
  check_header<CmSidrRep>();
  check_header<CmLap>();
  check_header<CmApr>();
  check_header<Cma>();
}

TEST(CmMessages, EachFillsTheMad) {
  static_assert(kSize<Mad> + kSize<CmReq> == kMadSize);
  for (const std::size_t size : {kSize<CmReq>, kSize<CmMra>, kSize<CmRej>, kSize<CmRep>, kSize<CmRtu>, kSize<CmDreq>,
                                 kSize<CmDrep>, kSize<CmSidrReq>, kSize<CmSidrRep>, kSize<CmLap>, kSize<CmApr>}) {
    EXPECT_EQ(size, 232U);
  }
}

TEST(CmMessages, Req) {
  const auto data = from_frame(kReqFrame, kDataOffset);
  const auto req = parsed<CmReq>(data);
  EXPECT_EQ(req.local_comm_id, CommId{0x11223344});
  EXPECT_EQ(req.vendor_id, 0U);
  EXPECT_EQ(req.service_id, ServiceId(PortSpace::tcp, 7174));
  EXPECT_EQ(req.local_ca_guid, 0x0200000000000001U);
  EXPECT_EQ(req.local_q_key, QKey{0});
  EXPECT_EQ(req.local_qpn, Qpn{0x11});
  EXPECT_EQ(req.responder_resources, 1);
  EXPECT_EQ(req.initiator_depth, 1);
  EXPECT_EQ(req.remote_cm_response_timeout, 20);
  EXPECT_EQ(req.transport_service, CmTransportService::rc);
  EXPECT_FALSE(req.flow_control);
  EXPECT_EQ(req.starting_psn, Psn{0xABCDEF});
  EXPECT_EQ(req.local_cm_response_timeout, 20);
  EXPECT_EQ(req.retry_count, 7);
  EXPECT_EQ(req.p_key, PKey{0xFFFF});
  EXPECT_EQ(req.path_mtu, PathMtu::mtu_1024);
  EXPECT_FALSE(req.rdc_exists);
  EXPECT_EQ(req.rnr_retry_count, 7);
  EXPECT_EQ(req.max_cm_retries, 15);
  EXPECT_FALSE(req.srq);
  EXPECT_EQ(req.extended_transport, CmExtendedTransport::none);
  EXPECT_EQ(req.primary_local_lid, 0xFFFF);
  EXPECT_EQ(req.primary_remote_lid, 0xFFFF);
  EXPECT_EQ(req.primary_local_gid, Gid::from_ipv4(kActive));
  EXPECT_EQ(req.primary_remote_gid, Gid::from_ipv4(kPassive));
  EXPECT_EQ(req.primary_flow_label, 0x12345U);
  EXPECT_EQ(req.primary_packet_rate, PacketRate::port_current);
  EXPECT_EQ(req.primary_traffic_class, 0);
  EXPECT_EQ(req.primary_hop_limit, 64);
  EXPECT_EQ(req.primary_sl, 0);
  EXPECT_FALSE(req.primary_subnet_local);
  EXPECT_EQ(req.primary_local_ack_timeout, 18);
  EXPECT_EQ(req.alternate_local_lid, 0);

  ASSERT_TRUE(has_cma(req.service_id, req.private_data));
  const auto cma = parsed<Cma>(req.private_data);
  EXPECT_EQ(cma.major_version, 0);
  EXPECT_EQ(cma.minor_version, 0);
  EXPECT_EQ(cma.ip_version, 4);
  EXPECT_EQ(cma.source_port, 50000);
  EXPECT_EQ(cma.source_address, Cma::from_ipv4(kActive));
  EXPECT_EQ(cma.source_gid(), Gid::from_ipv4(kActive));
  EXPECT_EQ(cma.destination_gid(), Gid::from_ipv4(kPassive));

  EXPECT_EQ(to_hex(emitted(req)), to_hex(Bytes(data).first(kSize<CmReq>)));
  EXPECT_EQ(to_hex(emitted(cma)), to_hex(Bytes(data).subspan(140, 36)));
}

TEST(CmMessages, ReqFieldsThatTheVectorLeavesZero) {
  const auto req = parsed<CmReq>(
      from_hex("00000000 99 aabbcc 0102030405060708 0000000000000000 00000000 80010000 000000 00 0a0b0c 00 0d0e0f 07"
               "000000 00 8001 5b 5f 0000 0000"
               "00000000000000000000000000000000 00000000000000000000000000000000 00000fff b8 01 f8 0f"
               "1234 5678 20010db8000000000000000000000001 20010db8000000000000000000000002 abcdefd3 68 ff 9a bf"
               "5a" +
               std::string(180, '0') + "5a"));
  EXPECT_EQ(req.reserved1, 0x99);
  EXPECT_EQ(req.vendor_id, 0xAABBCCU);
  EXPECT_EQ(req.service_id, ServiceId{0x0102030405060708});
  EXPECT_EQ(req.local_q_key, QKey{0x80010000});
  EXPECT_EQ(req.local_eecn, Eecn{0x0A0B0C});
  EXPECT_EQ(req.remote_eecn, Eecn{0x0D0E0F});
  EXPECT_EQ(req.remote_cm_response_timeout, 0);
  EXPECT_EQ(req.transport_service, CmTransportService::extended);
  EXPECT_TRUE(req.flow_control);
  EXPECT_EQ(req.p_key, PKey{0x8001});
  EXPECT_EQ(req.path_mtu, PathMtu::mtu_4096);
  EXPECT_TRUE(req.rdc_exists);
  EXPECT_EQ(req.rnr_retry_count, 3);
  EXPECT_EQ(req.max_cm_retries, 5);
  EXPECT_TRUE(req.srq);
  EXPECT_EQ(static_cast<unsigned>(req.extended_transport), 7U);
  EXPECT_EQ(req.primary_flow_label, 0U);
  EXPECT_EQ(req.primary_reserved1, 0x3F);
  EXPECT_EQ(static_cast<unsigned>(req.primary_packet_rate), 0x3FU);
  EXPECT_EQ(req.primary_traffic_class, 0xB8);
  EXPECT_EQ(req.primary_hop_limit, 1);
  EXPECT_EQ(req.primary_sl, 15);
  EXPECT_TRUE(req.primary_subnet_local);
  EXPECT_EQ(req.primary_local_ack_timeout, 1);
  EXPECT_EQ(req.primary_reserved3, 7);
  EXPECT_EQ(req.alternate_local_lid, 0x1234);
  EXPECT_EQ(req.alternate_remote_lid, 0x5678);
  EXPECT_EQ(req.alternate_local_gid, gid("20010db8000000000000000000000001"));
  EXPECT_EQ(req.alternate_remote_gid, gid("20010db8000000000000000000000002"));
  EXPECT_EQ(req.alternate_flow_label, 0xABCDEU);
  EXPECT_EQ(req.alternate_reserved1, 0x3F);
  EXPECT_EQ(static_cast<unsigned>(req.alternate_packet_rate), 0x13U);
  EXPECT_EQ(req.alternate_traffic_class, 0x68);
  EXPECT_EQ(req.alternate_hop_limit, 255);
  EXPECT_EQ(req.alternate_sl, 9);
  EXPECT_TRUE(req.alternate_subnet_local);
  EXPECT_EQ(req.alternate_reserved2, 2);
  EXPECT_EQ(req.alternate_local_ack_timeout, 0x17);
  EXPECT_TRUE(req.alternate_sap_supported);
  EXPECT_EQ(req.alternate_reserved3, 3);
  EXPECT_EQ(req.private_data.front(), std::byte{0x5A});
  EXPECT_EQ(req.private_data.back(), std::byte{0x5A});
}

TEST(CmMessages, Rep) {
  const auto data = from_frame(kRepFrame, kDataOffset);
  const auto rep = parsed<CmRep>(data);
  EXPECT_EQ(rep.local_comm_id, CommId{0x55667788});
  EXPECT_EQ(rep.remote_comm_id, CommId{0x11223344});
  EXPECT_EQ(rep.local_q_key, QKey{0});
  EXPECT_EQ(rep.local_qpn, Qpn{0x12});
  EXPECT_EQ(rep.local_eecn, Eecn{0});
  EXPECT_EQ(rep.starting_psn, Psn{0x123456});
  EXPECT_EQ(rep.responder_resources, 1);
  EXPECT_EQ(rep.initiator_depth, 1);
  EXPECT_EQ(rep.target_ack_delay, 15);
  EXPECT_EQ(rep.failover_accepted, CmFailover::accepted);
  EXPECT_FALSE(rep.flow_control);
  EXPECT_EQ(rep.rnr_retry_count, 7);
  EXPECT_FALSE(rep.srq);
  EXPECT_EQ(rep.local_ca_guid, 0x0200000000000002U);
  EXPECT_EQ(to_hex(emitted(rep)), to_hex(Bytes(data).first(kSize<CmRep>)));

  const auto other = parsed<CmRep>(
      message("00000000 00000000 80010000 000000 aa 010203 bb 000000 cc 02 03 0d 3f 0000000000000000 5a"));
  EXPECT_EQ(other.local_q_key, QKey{0x80010000});
  EXPECT_EQ(other.vendor_id_high, 0xAA);
  EXPECT_EQ(other.local_eecn, Eecn{0x010203});
  EXPECT_EQ(other.vendor_id_middle, 0xBB);
  EXPECT_EQ(other.vendor_id_low, 0xCC);
  EXPECT_EQ(other.responder_resources, 2);
  EXPECT_EQ(other.initiator_depth, 3);
  EXPECT_EQ(other.target_ack_delay, 1);
  EXPECT_EQ(other.failover_accepted, CmFailover::rejected);
  EXPECT_TRUE(other.flow_control);
  EXPECT_EQ(other.rnr_retry_count, 1);
  EXPECT_TRUE(other.srq);
  EXPECT_EQ(other.reserved, 15);
  EXPECT_EQ(other.private_data.front(), std::byte{0x5A});
}

TEST(CmMessages, RtuIsBuiltByteForByte) {
  Mad mad;
  mad.transaction_id = 0x0000000911223344;
  mad.attribute_id = MadAttribute::cm_rtu;
  CmRtu rtu;
  rtu.local_comm_id = CommId{0x11223344};
  rtu.remote_comm_id = CommId{0x55667788};
  const auto frame = from_hex(kRtuFrame);
  EXPECT_EQ(to_hex(emitted(mad)) + to_hex(emitted(rtu)), to_hex(Bytes(frame).subspan(kMadOffset, kMadSize)));
  EXPECT_EQ(parsed<CmRtu>(Bytes(frame).subspan(kDataOffset)), rtu);
}

TEST(CmMessages, Rej) {
  const auto rej = parsed<CmRej>(message("00000000 11223344 3f 49 001c dead"));
  EXPECT_EQ(rej.local_comm_id, CommId{0});
  EXPECT_EQ(rej.remote_comm_id, CommId{0x11223344});
  EXPECT_EQ(rej.message, CmMessageKind::req);
  EXPECT_EQ(rej.reserved1, 0x3F);
  EXPECT_EQ(rej.info_length, 36);
  EXPECT_EQ(rej.reserved2, 1);
  EXPECT_EQ(rej.reason, CmRejReason::consumer_defined);
  EXPECT_EQ(rej.info[0], std::byte{0xDE});
  EXPECT_EQ(rej.info[1], std::byte{0xAD});

  auto bytes = message("");
  bytes[8] = std::byte{0x40};
  bytes[83] = std::byte{0x11};
  bytes[84] = std::byte{0x22};
  const auto second = parsed<CmRej>(bytes);
  EXPECT_EQ(second.message, CmMessageKind::rep);
  EXPECT_EQ(second.info.back(), std::byte{0x11});
  EXPECT_EQ(second.private_data.front(), std::byte{0x22});
}

TEST(CmMessages, RejReasonsAsNumberedByTheSpecification) {
  using enum CmRejReason;
  const std::vector<std::pair<CmRejReason, int>> numbers{{no_qp, 1},
                                                         {timeout, 4},
                                                         {invalid_service_id, 8},
                                                         {stale_connection, 10},
                                                         {invalid_gid, 12},
                                                         {invalid_packet_rate, 17},
                                                         {invalid_alternate_packet_rate, 23},
                                                         {port_and_cm_redirect, 24},
                                                         {invalid_path_mtu, 26},
                                                         {consumer_defined, 28},
                                                         {duplicate_local_comm_id, 30},
                                                         {invalid_alternate_flow_label, 33},
                                                         {vendor_option_not_supported, 35}};
  for (const auto& [reason, number] : numbers) EXPECT_EQ(static_cast<int>(reason), number);
  const auto& reason = kFieldInfos<CmRej>[6];
  ASSERT_EQ(reason.name, "reason");
  EXPECT_EQ(reason.value_name(8), "invalid service ID");
  EXPECT_EQ(reason.value_name(10), "stale connection");
  EXPECT_EQ(reason.value_name(28), "consumer reject");
  EXPECT_EQ(reason.value_name(34), "");
}

TEST(CmMessages, Mra) {
  const auto mra = parsed<CmMra>(message("01020304 05060708 7f a5 5a"));
  EXPECT_EQ(mra.local_comm_id, CommId{0x01020304});
  EXPECT_EQ(mra.remote_comm_id, CommId{0x05060708});
  EXPECT_EQ(mra.message, CmMessageKind::rep);
  EXPECT_EQ(mra.reserved1, 0x3F);
  EXPECT_EQ(mra.service_timeout, 20);
  EXPECT_EQ(mra.reserved2, 5);
  EXPECT_EQ(mra.private_data.front(), std::byte{0x5A});
}

TEST(CmMessages, DreqAndDrep) {
  const auto bytes = message("01020304 05060708 0a0b0c 99 5a");
  const auto dreq = parsed<CmDreq>(bytes);
  EXPECT_EQ(dreq.local_comm_id, CommId{0x01020304});
  EXPECT_EQ(dreq.remote_comm_id, CommId{0x05060708});
  EXPECT_EQ(dreq.remote_qpn, Qpn{0x0A0B0C});
  EXPECT_EQ(dreq.reserved, 0x99);
  EXPECT_EQ(dreq.private_data.front(), std::byte{0x5A});
  const auto drep = parsed<CmDrep>(bytes);
  EXPECT_EQ(drep.local_comm_id, CommId{0x01020304});
  EXPECT_EQ(drep.remote_comm_id, CommId{0x05060708});
  EXPECT_EQ(drep.private_data.front(), std::byte{0x0A});
}

TEST(CmMessages, SidrReqAndRep) {
  const auto req = parsed<CmSidrReq>(message("01020304 ffff 1234 0000000001113039 0060 c350"));
  EXPECT_EQ(req.request_id, 0x01020304U);
  EXPECT_EQ(req.p_key, PKey{0xFFFF});
  EXPECT_EQ(req.reserved, 0x1234);
  EXPECT_EQ(req.service_id, ServiceId(PortSpace::udp, 12345));
  EXPECT_TRUE(has_cma(req.service_id, req.private_data));

  auto bytes = message("01020304 03 48 aabb 0a0b0c cc 0000000001113039 01234567 77");
  bytes[95] = std::byte{0x11};
  bytes[96] = std::byte{0x22};
  const auto rep = parsed<CmSidrRep>(bytes);
  EXPECT_EQ(rep.request_id, 0x01020304U);
  EXPECT_EQ(rep.status, CmSidrStatus::no_qp);
  EXPECT_EQ(rep.info_length, 72);
  EXPECT_EQ(rep.vendor_id_high, 0xAABB);
  EXPECT_EQ(rep.qpn, Qpn{0x0A0B0C});
  EXPECT_EQ(rep.vendor_id_low, 0xCC);
  EXPECT_EQ(rep.service_id, ServiceId(PortSpace::udp, 12345));
  EXPECT_EQ(rep.q_key, QKey{0x01234567});
  EXPECT_EQ(rep.info.front(), std::byte{0x77});
  EXPECT_EQ(rep.info.back(), std::byte{0x11});
  EXPECT_EQ(rep.private_data.front(), std::byte{0x22});
}

TEST(CmMessages, LapAndApr) {
  const auto lap =
      parsed<CmLap>(message("01020304 05060708 deadbeef 0a0b0c a3 cafef00d 1234 5678 20010db8000000000000000000000001"
                            "20010db8000000000000000000000002 abcdef b8 40 d3 9a bf 5a"));
  EXPECT_EQ(lap.local_comm_id, CommId{0x01020304});
  EXPECT_EQ(lap.remote_comm_id, CommId{0x05060708});
  EXPECT_EQ(lap.reserved1, 0xDEADBEEFU);
  EXPECT_EQ(lap.remote_qpn, Qpn{0x0A0B0C});
  EXPECT_EQ(lap.remote_cm_response_timeout, 20);
  EXPECT_EQ(lap.reserved2, 3);
  EXPECT_EQ(lap.reserved3, 0xCAFEF00DU);
  EXPECT_EQ(lap.alternate_local_lid, 0x1234);
  EXPECT_EQ(lap.alternate_remote_lid, 0x5678);
  EXPECT_EQ(lap.alternate_local_gid, gid("20010db8000000000000000000000001"));
  EXPECT_EQ(lap.alternate_remote_gid, gid("20010db8000000000000000000000002"));
  EXPECT_EQ(lap.alternate_flow_label, 0xABCDEU);
  EXPECT_EQ(lap.alternate_reserved1, 15);
  EXPECT_EQ(lap.alternate_traffic_class, 0xB8);
  EXPECT_EQ(lap.alternate_hop_limit, 64);
  EXPECT_EQ(lap.alternate_reserved2, 3);
  EXPECT_EQ(static_cast<unsigned>(lap.alternate_packet_rate), 0x13U);
  EXPECT_EQ(lap.alternate_sl, 9);
  EXPECT_TRUE(lap.alternate_subnet_local);
  EXPECT_EQ(lap.alternate_local_ack_timeout, 0x17);
  EXPECT_EQ(lap.alternate_reserved4, 7);
  EXPECT_EQ(lap.private_data.front(), std::byte{0x5A});

  auto bytes = message("01020304 05060708 48 0c 1234 77");
  bytes[83] = std::byte{0x11};
  bytes[84] = std::byte{0x22};
  const auto apr = parsed<CmApr>(bytes);
  EXPECT_EQ(apr.local_comm_id, CommId{0x01020304});
  EXPECT_EQ(apr.remote_comm_id, CommId{0x05060708});
  EXPECT_EQ(apr.info_length, 72);
  EXPECT_EQ(apr.status, CmAprStatus::invalid_packet_rate);
  EXPECT_EQ(apr.reserved, 0x1234);
  EXPECT_EQ(apr.info.front(), std::byte{0x77});
  EXPECT_EQ(apr.info.back(), std::byte{0x11});
  EXPECT_EQ(apr.private_data.front(), std::byte{0x22});
}

TEST(ServiceId, RdmaIpServicesNamePortSpaceAndPort) {
  const ServiceId tcp{0x0000000001061C06};
  EXPECT_TRUE(tcp.is_rdma_ip());
  EXPECT_EQ(tcp.port_space(), PortSpace::tcp);
  EXPECT_EQ(tcp.ip_protocol(), 6);
  EXPECT_EQ(tcp.port(), 7174);
  EXPECT_EQ(tcp, ServiceId(PortSpace::tcp, 7174));
  EXPECT_TRUE(ServiceId(PortSpace::udp, 1).is_rdma_ip());
  EXPECT_TRUE(ServiceId(PortSpace::ib, 1).is_rdma_ip());
  EXPECT_FALSE(ServiceId(PortSpace::ipoib, 1).is_rdma_ip());
  EXPECT_FALSE(ServiceId{0x1000000001061C06}.is_rdma_ip());
  EXPECT_FALSE(ServiceId{0x0000000002061C06}.is_rdma_ip());
}

TEST(Cma, IsRecognisedByServiceVersionAndIpVersion) {
  const ServiceId service(PortSpace::tcp, 7174);
  const auto data = emitted(Cma{.source_port = 50000, .source_address = {}, .destination_address = {}});
  EXPECT_TRUE(has_cma(service, data));
  EXPECT_FALSE(has_cma(ServiceId{0x1234}, data));
  EXPECT_FALSE(has_cma(service, Bytes(data).first(35)));
  const auto with_byte = [&](std::size_t index, unsigned value) {
    auto changed = data;
    changed[index] = static_cast<std::byte>(value);
    return changed;
  };
  EXPECT_TRUE(has_cma(service, with_byte(1, 0x60)));
  EXPECT_TRUE(has_cma(service, with_byte(1, 0x4F)));
  EXPECT_FALSE(has_cma(service, with_byte(1, 0x50)));
  EXPECT_FALSE(has_cma(service, with_byte(1, 0x04)));
  EXPECT_FALSE(has_cma(service, with_byte(0, 0x10)));
  EXPECT_FALSE(has_cma(service, with_byte(0, 0x01)));
}

TEST(Cma, Ipv6AddressesAreGidsAsTheyAre) {
  const auto cma = parsed<Cma>(from_hex("0060 1c06 20010db8000000000000000000000001 20010db8000000000000000000000002"));
  EXPECT_EQ(cma.ip_version, 6);
  EXPECT_EQ(cma.source_port, 7174);
  EXPECT_EQ(cma.source_gid(), gid("20010db8000000000000000000000001"));
  EXPECT_EQ(cma.destination_gid(), gid("20010db8000000000000000000000002"));
}

TEST(CmHeaderId, FollowsTheAttribute) {
  const std::vector<std::pair<unsigned, HeaderId>> rows{
      {0x000F, HeaderId::none},        {0x0010, HeaderId::cm_req},  {0x0011, HeaderId::cm_mra},
      {0x0012, HeaderId::cm_rej},      {0x0013, HeaderId::cm_rep},  {0x0014, HeaderId::cm_rtu},
      {0x0015, HeaderId::cm_dreq},     {0x0016, HeaderId::cm_drep}, {0x0017, HeaderId::cm_sidr_req},
      {0x0018, HeaderId::cm_sidr_rep}, {0x0019, HeaderId::cm_lap},  {0x001A, HeaderId::cm_apr},
      {0x001B, HeaderId::none},        {0x0001, HeaderId::none}};
  for (const auto& [attribute, id] : rows) {
    Mad mad;
    mad.attribute_id = static_cast<MadAttribute>(attribute);
    EXPECT_EQ(cm_header_id(mad.attribute_id), id) << attribute;
    EXPECT_EQ(cm_header_id(mad), id) << attribute;
  }
}

TEST(CmHeaderId, NoneForAnythingElseThanACmMessage) {
  Mad mad;
  mad.attribute_id = MadAttribute::cm_req;
  const auto with = [&](auto member, auto value) {
    Mad changed = mad;
    changed.*member = value;
    return cm_header_id(changed);
  };
  EXPECT_EQ(cm_header_id(mad), HeaderId::cm_req);
  EXPECT_EQ(with(&Mad::mgmt_class, MgmtClass::performance), HeaderId::none);
  EXPECT_EQ(with(&Mad::method, MadMethod::get), HeaderId::none);
  EXPECT_EQ(with(&Mad::class_version, std::uint8_t{1}), HeaderId::none);
  EXPECT_EQ(with(&Mad::base_version, std::uint8_t{2}), HeaderId::none);
}

TEST(PathMtu, CodesStandForBytes) {
  EXPECT_EQ(to_bytes(PathMtu::mtu_256), 256U);
  EXPECT_EQ(to_bytes(PathMtu::mtu_1024), 1024U);
  EXPECT_EQ(to_bytes(PathMtu::mtu_4096), 4096U);
  EXPECT_EQ(to_bytes(static_cast<PathMtu>(0)), 0U);
  EXPECT_EQ(to_bytes(static_cast<PathMtu>(6)), 0U);
}

}  // namespace
}  // namespace roce
