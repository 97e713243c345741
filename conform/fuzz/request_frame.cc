// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/request_frame.h"

#include <array>

#include "conform/language/functions.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/packet_spec.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint16_t kSourcePort = 50000;
// Headers, the longest payload of a program, and what mutations add.
constexpr std::size_t kMostFrame = 512;

void add_network(FrameBuilder& frame, const Port& port) {
  Ethernet ethernet{.destination = port.device_mac, .source = port.tester_mac};
  switch (port.version) {
    case RoceVersion::v1:
      ethernet.ether_type = EtherType::roce_v1;
      frame.add(ethernet).add(Grh{.source = port.tester_gid, .destination = port.device_gid});
      return;
    case RoceVersion::v2_ipv6:
      ethernet.ether_type = EtherType::ipv6;
      frame.add(ethernet).add(Ipv6{.source = port.tester_gid, .destination = port.device_gid});
      break;
    default:
      ethernet.ether_type = EtherType::ipv4;
      frame.add(ethernet).add(
          Ipv4{.dont_fragment = true, .source = port.tester_gid.ipv4(), .destination = port.device_gid.ipv4()});
  }
  frame.add(Udp{.source_port = kSourcePort});
}

void add_transport(FrameBuilder& frame, const Request& request, const DeviceModel::Attributes& qp, const Bench& bench) {
  const std::uint64_t address = bench.region_of(request.key).address + static_cast<std::uint64_t>(request.address);
  const RKey r_key{bench.value_of(request.key)};
  for (const HeaderId id : opcode_info(request.opcode).headers()) {
    switch (id) {
      case HeaderId::reth:
        frame.add(Reth{.virtual_address = address, .r_key = r_key, .dma_length = request.length});
        break;
      case HeaderId::atomiceth:
        frame.add(AtomicEth{
            .virtual_address = address, .r_key = r_key, .swap_or_add = request.operand, .compare = request.compare});
        break;
      case HeaderId::ieth:
        frame.add(Ieth{.r_key = r_key});
        break;
      case HeaderId::immdt:
        frame.add(ImmDt{.data = request.immediate});
        break;
      case HeaderId::aeth:
        frame.add(Aeth{});
        break;
      case HeaderId::atomicacketh:
        frame.add(AtomicAckEth{});
        break;
      case HeaderId::deth:
        frame.add(Deth{.q_key = QKey{qp.q_key.value() ^ request.q_key_flip}, .source_qp = qp.peer});
        break;
      default:
        break;
    }
  }
}

std::vector<std::byte> change(const std::vector<std::byte>& bytes, const Request& request) {
  PacketSpec spec = PacketSpec::from_packet(parse_frame(bytes, LinkType::ethernet));
  for (const FieldChange& each : request.changes) {
    if (!spec.set(each.field, each.value)) continue;
  }
  if (request.wrong_icrc && !spec.set("icrc", "wrong")) return bytes;
  return spec.build().value_or(bytes);
}

}  // namespace

std::vector<std::byte> build_request(const Request& request, const DeviceModel& model, const Bench& bench,
                                     const Port& port) {
  std::vector<std::byte> bytes(request.payload + kMostFrame);
  FrameBuilder frame{bytes};
  add_network(frame, request.other_version ? bench.other_port(port) : port);
  const Psn psn = model.state().expected + static_cast<std::uint32_t>(request.psn);
  frame.add(Bth{.opcode = request.opcode,
                .mig_req = true,
                .dest_qp = Qpn{model.attributes().qpn.value() ^ request.qpn_flip},
                .ack_req = request.ack_request,
                .psn = psn});
  add_transport(frame, request, model.attributes(), bench);
  frame.payload(bytes_of_seed(request.seed, request.payload));
  bytes.resize(frame.finish().value_or(0));
  if (request.changes.empty() && !request.wrong_icrc) return bytes;
  return change(bytes, request);
}

std::vector<std::byte> build_response(const Response& response, Psn psn, Qpn dest_qp, const Port& port) {
  std::vector<std::byte> bytes(response.payload + kMostFrame);
  FrameBuilder frame{bytes};
  add_network(frame, port);
  frame.add(
      Bth{.opcode = response.opcode, .mig_req = true, .dest_qp = Qpn{dest_qp.value() ^ response.qpn_flip}, .psn = psn});
  for (const HeaderId id : opcode_info(response.opcode).headers()) {
    if (id == HeaderId::aeth) frame.add(Aeth{.syndrome = AethSyndrome{response.syndrome}, .msn = Msn{1}});
    if (id == HeaderId::atomicacketh) frame.add(AtomicAckEth{.original = response.value});
  }
  frame.payload(bytes_of_seed(response.seed, response.payload));
  bytes.resize(frame.finish().value_or(0));
  if (response.wrong_icrc && !bytes.empty()) bytes.back() ^= std::byte{0xFF};
  return bytes;
}

bool is_marked(const std::vector<std::byte>& frame) {
  constexpr std::uint8_t ecn = 3;
  return (parse_frame(frame, LinkType::ethernet).net().traffic_class & ecn) == ecn;
}

}  // namespace roce::conform::fuzz
