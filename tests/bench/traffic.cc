// SPDX-License-Identifier: BSD-2-Clause
#include "traffic.h"

namespace roce::bench {

namespace {

/// Payload bytes; packets take theirs from different offsets.
const auto kPattern = [] {
  std::array<std::byte, std::size_t{2} * 4096> pattern{};
  std::mt19937 random{2};
  for (std::byte& value : pattern) value = static_cast<std::byte>(random());
  return pattern;
}();

constexpr MacAddress kRequesterMac{{0x02, 0, 0, 0, 0, 1}};
constexpr MacAddress kResponderMac{{0x02, 0, 0, 0, 0, 2}};
constexpr Ipv4Address kRequesterIp{{192, 0, 2, 1}};
constexpr Ipv4Address kResponderIp{{192, 0, 2, 2}};

/// The opcodes of a message's packets by their place in it.
struct DataOpcodes {
  Opcode first, middle, last, only;
};

constexpr DataOpcodes kSend{Opcode::rc_send_first, Opcode::rc_send_middle, Opcode::rc_send_last, Opcode::rc_send_only};
constexpr DataOpcodes kSendImm{Opcode::rc_send_first, Opcode::rc_send_middle, Opcode::rc_send_last_imm,
                               Opcode::rc_send_only_imm};
constexpr DataOpcodes kWrite{Opcode::rc_write_first, Opcode::rc_write_middle, Opcode::rc_write_last,
                             Opcode::rc_write_only};
constexpr DataOpcodes kRead{Opcode::rc_read_response_first, Opcode::rc_read_response_middle,
                            Opcode::rc_read_response_last, Opcode::rc_read_response_only};

}  // namespace

FrameTemplate flow_of(const PlannedPacket& packet) {
  NetMeta net;
  net.version = RoceVersion::v2_ipv4;
  net.source = Gid::from_ipv4(packet.ipv4.source);
  net.destination = Gid::from_ipv4(packet.ipv4.destination);
  net.traffic_class = static_cast<std::uint8_t>(packet.ipv4.dscp << 2 | packet.ipv4.ecn);
  net.hop_limit = packet.ipv4.ttl;
  net.dont_fragment = packet.ipv4.dont_fragment;
  net.udp_source_port = packet.udp.source_port;
  return FrameTemplate::ethernet(net, packet.ethernet.source, packet.ethernet.destination);
}

PlannedPacket Traffic::next() {
  if (planned_.empty()) plan_message();
  const PlannedPacket packet = planned_.front();
  planned_.pop_front();
  return packet;
}

void Traffic::plan_message() {
  const std::uint32_t queue_pair = random(kQueuePairs);
  const auto kind = static_cast<Kind>(random(4));
  const std::uint32_t packets = shape_.single_packets ? 1 : 1 + random(8);
  const bool last_is_full = shape_.single_packets || random(3) != 0;
  const std::uint32_t last_bytes = last_is_full ? shape_.mtu : 1 + random(shape_.mtu);
  const std::uint32_t length = (packets - 1) * shape_.mtu + last_bytes;
  const Psn first_psn = next_psn_[queue_pair];

  if (kind == Kind::read) {
    PlannedPacket& request = plan(Host::requester, queue_pair, Opcode::rc_read_request);
    request.bth.psn = first_psn;
    request.bth.ack_req = true;
    request.reth.dma_length = length;
    ++completed_[queue_pair];
    plan_data(Host::responder, queue_pair, kind, packets, last_bytes);
    return;
  }
  const std::size_t begin = planned_.size();
  plan_data(Host::requester, queue_pair, kind, packets, last_bytes);
  planned_[begin].reth.dma_length = length;
  planned_.back().bth.ack_req = true;
  ++completed_[queue_pair];
  PlannedPacket& answer = plan(Host::responder, queue_pair, Opcode::rc_acknowledge);
  answer.bth.psn = next_psn_[queue_pair] - 1;
}

void Traffic::plan_data(Host from, std::uint32_t queue_pair, Kind kind, std::uint32_t packets,
                        std::uint32_t last_bytes) {
  constexpr std::array<DataOpcodes, 4> by_kind{kSend, kSendImm, kWrite, kRead};
  const DataOpcodes& opcodes = by_kind[static_cast<std::size_t>(kind)];
  for (std::uint32_t i = 0; i < packets; ++i) {
    const bool is_last = i + 1 == packets;
    Opcode opcode = opcodes.middle;
    if (packets == 1) {
      opcode = opcodes.only;
    } else if (i == 0) {
      opcode = opcodes.first;
    } else if (is_last) {
      opcode = opcodes.last;
    }
    PlannedPacket& packet = plan(from, queue_pair, opcode);
    packet.bth.psn = next_psn_[queue_pair];
    ++next_psn_[queue_pair];
    packet.payload = Bytes{kPattern.data() + random(4096), is_last ? last_bytes : shape_.mtu};
  }
}

PlannedPacket& Traffic::plan(Host from, std::uint32_t queue_pair, Opcode opcode) {
  const bool is_request = from == Host::requester;
  PlannedPacket& packet = planned_.emplace_back();
  packet.ethernet = {.destination = is_request ? kResponderMac : kRequesterMac,
                     .source = is_request ? kRequesterMac : kResponderMac,
                     .ether_type = EtherType::ipv4};
  packet.ipv4.ecn = 2;
  packet.ipv4.dont_fragment = true;
  packet.ipv4.source = is_request ? kRequesterIp : kResponderIp;
  packet.ipv4.destination = is_request ? kResponderIp : kRequesterIp;
  packet.udp.source_port = static_cast<std::uint16_t>(0xC000 + queue_pair);
  packet.bth.opcode = opcode;
  packet.bth.mig_req = true;
  packet.bth.dest_qp = Qpn{(is_request ? 0x100 : 0x200) + queue_pair};
  packet.reth.virtual_address = 0x7F00'0000'0000 + std::uint64_t{next_psn_[queue_pair].value()} * 4096;
  packet.reth.r_key = RKey{0x1234};
  packet.aeth.msn = completed_[queue_pair];
  packet.immdt.data = 7;
  return packet;
}

}  // namespace roce::bench
