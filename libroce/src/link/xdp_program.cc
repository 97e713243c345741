// SPDX-License-Identifier: BSD-2-Clause
#include "link/xdp_program.h"

#include <bpf/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstdint>

#include "link/bpf_assembler.h"
#include "link/xdp_abi.h"

namespace roce::link {

namespace {

using Label = BpfAssembler::Label;
using enum BpfAssembler::Register;

constexpr std::int32_t kRocePort = 4791;
constexpr std::int32_t kRoceV1Type = 0x8915;
constexpr std::int32_t kMacControlType = 0x8808;
constexpr int kMaxTags = 2;

constexpr std::int16_t kTagBytes = 4;
constexpr std::int16_t kTypeOffset = 12;
constexpr std::int16_t kEthernetHeader = 14;
constexpr std::int16_t kIpv4Header = 20;
constexpr std::int16_t kIpv6Header = 40;
// The bytes of a UDP header that are needed: its ports.
constexpr std::int16_t kPortsBytes = 4;
constexpr std::int16_t kDestinationPort = 2;

// Registers: r6 is the context, r2 the frame without the tags passed so far, r3 its end, r5 the value examined.

/// Writes a jump to `pass` unless the frame has this many bytes: the verifier wants the check before they are read.
void need(BpfAssembler& code, std::int32_t bytes, Label pass) {
  code.copy(r4, r2);
  code.add(r4, bytes);
  code.jump_if_greater(r4, r3, pass);
}

void pass_tag(BpfAssembler& code, Label untagged, Label pass) {
  const Label tagged = code.make_label();
  code.jump_if_equal(r5, ETH_P_8021Q, tagged);
  code.jump_if_not_equal(r5, ETH_P_8021AD, untagged);
  code.place(tagged);
  code.add(r2, kTagBytes);
  need(code, kEthernetHeader, pass);
  code.load_be16(r5, r2, kTypeOffset);
}

void take_udp_on_ipv4(BpfAssembler& code, Label take, Label pass) {
  constexpr std::int16_t fragment_offset = kEthernetHeader + 6;
  constexpr std::int32_t more_fragments_or_offset = 0x3fff;
  constexpr std::int16_t protocol_offset = kEthernetHeader + 9;
  constexpr std::int32_t words_of_header = 0x0f;
  constexpr std::int32_t words_to_bytes = 2;
  need(code, kEthernetHeader + kIpv4Header + kPortsBytes, pass);
  code.load8(r5, r2, protocol_offset);
  code.jump_if_not_equal(r5, IPPROTO_UDP, pass);
  code.load_be16(r5, r2, fragment_offset);
  code.mask(r5, more_fragments_or_offset);
  code.jump_if_not_equal(r5, 0, pass);
  code.load8(r5, r2, kEthernetHeader);
  code.mask(r5, words_of_header);
  code.shift_left(r5, words_to_bytes);
  code.add(r2, r5);
  need(code, kEthernetHeader + kPortsBytes, pass);
  code.load_be16(r5, r2, kEthernetHeader + kDestinationPort);
  code.jump_if_equal(r5, kRocePort, take);
  code.jump(pass);
}

void take_udp_on_ipv6(BpfAssembler& code, Label take, Label pass) {
  constexpr std::int16_t next_header_offset = kEthernetHeader + 6;
  need(code, kEthernetHeader + kIpv6Header + kPortsBytes, pass);
  code.load8(r5, r2, next_header_offset);
  code.jump_if_not_equal(r5, IPPROTO_UDP, pass);
  code.load_be16(r5, r2, kEthernetHeader + kIpv6Header + kDestinationPort);
  code.jump_if_equal(r5, kRocePort, take);
  code.jump(pass);
}

/// Writes the program that `XdpLink` describes. `sockets` is the table.
void write_program(BpfAssembler& code, int sockets, bool mac_control) {
  const Label untagged = code.make_label();
  const Label ipv4 = code.make_label();
  const Label ipv6 = code.make_label();
  const Label take = code.make_label();
  const Label pass = code.make_label();

  code.copy(r6, r1);
  code.load32(r2, r6, offsetof(xdp_md, data));
  code.load32(r3, r6, offsetof(xdp_md, data_end));
  need(code, kEthernetHeader, pass);
  code.load_be16(r5, r2, kTypeOffset);
  for (int tag = 0; tag < kMaxTags; ++tag) pass_tag(code, untagged, pass);

  code.place(untagged);
  code.jump_if_equal(r5, ETH_P_IP, ipv4);
  code.jump_if_equal(r5, ETH_P_IPV6, ipv6);
  code.jump_if_equal(r5, kRoceV1Type, take);
  if (mac_control) code.jump_if_equal(r5, kMacControlType, take);
  code.jump(pass);

  code.place(ipv4);
  take_udp_on_ipv4(code, take, pass);
  code.place(ipv6);
  take_udp_on_ipv6(code, take, pass);

  code.place(take);
  code.load_map(r1, sockets);
  code.load32(r2, r6, offsetof(xdp_md, rx_queue_index));
  // The action if the queue has no socket.
  code.set(r3, XDP_PASS);
  code.call(BPF_FUNC_redirect_map);
  code.exit();

  code.place(pass);
  code.set(r0, XDP_PASS);
  code.exit();
}

}  // namespace

int XdpProgram::load(const Shape& shape) {
  FileDescriptor sockets{
      bpf_map_create(BPF_MAP_TYPE_XSKMAP, "roce_sockets", sizeof(std::uint32_t), sizeof(int), shape.queues, nullptr)};
  if (!sockets) return errno;
  BpfAssembler code;
  write_program(code, sockets.get(), shape.mac_control);
  const std::span<const bpf_insn> instructions = code.finish();
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.prog_flags = shape.frags ? kXdpHasFrags : 0;
  FileDescriptor program{
      bpf_prog_load(BPF_PROG_TYPE_XDP, "roce", "BSD", instructions.data(), instructions.size(), &options)};
  if (!program) return errno;
  sockets_ = std::move(sockets);
  program_ = std::move(program);
  return 0;
}

int XdpProgram::attach(int interface_index, XdpMode mode) {
  bpf_link_create_opts options{};
  options.sz = sizeof options;
  options.flags = mode == XdpMode::native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  FileDescriptor attachment{bpf_link_create(program_.get(), interface_index, BPF_XDP, &options)};
  if (!attachment) return errno;
  attachment_ = std::move(attachment);
  return 0;
}

int XdpProgram::set_socket(unsigned queue, int socket) {
  return bpf_map_update_elem(sockets_.get(), &queue, &socket, BPF_ANY) == 0 ? 0 : errno;
}

}  // namespace roce::link
