// SPDX-License-Identifier: BSD-2-Clause
#include "link/packet_fanout.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "link/classic_bpf_assembler.h"
#include "link/shard_steering.h"

namespace roce::link {

namespace {

using Label = ClassicBpfAssembler::Label;

// PACKET_FANOUT_FLAG_IGNORE_OUTGOING of Linux 6.2, which the headers of Debian 12 lack. Older kernels ignore it.
constexpr int kIgnoreOutgoing = 0x4000;

constexpr std::uint32_t kRocePort = 4791;
constexpr std::uint32_t kRoceV1Type = 0x8915;
constexpr std::uint32_t kBthBehindGrh = 0x1b;
constexpr std::uint32_t kTagBytes = 4;
constexpr std::uint32_t kTypeInTag = 2;
constexpr std::uint32_t kIpv6Header = 40;
constexpr std::uint32_t kIpv6NextHeader = 6;
constexpr std::uint32_t kUdpHeader = 8;
constexpr std::uint32_t kDestinationPort = 2;

/// Writes code that parses from the index on and leaves the DestQP in the accumulator.
void load_behind_ipv4(ClassicBpfAssembler& code, Label first) {
  constexpr std::uint32_t fragment = 6;
  constexpr std::uint32_t fragment_offset = 0x1fff;
  constexpr std::uint32_t protocol = 9;
  constexpr std::uint32_t words_of_header = 0x0f;
  constexpr std::uint32_t words_to_bytes = 2;
  code.load16(fragment);
  code.jump_if_any_bit(fragment_offset, first);
  code.load8(protocol);
  code.jump_if_not_equal(IPPROTO_UDP, first);
  code.load8(0);
  code.mask(words_of_header);
  code.shift_left(words_to_bytes);
  code.add_index();
  code.copy_to_index();
  code.load16(kDestinationPort);
  code.jump_if_not_equal(kRocePort, first);
  code.load32(kUdpHeader + kDestQp);
}

void load_behind_ipv6(ClassicBpfAssembler& code, Label first) {
  code.load8(kIpv6NextHeader);
  code.jump_if_not_equal(IPPROTO_UDP, first);
  code.load16(kIpv6Header + kDestinationPort);
  code.jump_if_not_equal(kRocePort, first);
  code.load32(kIpv6Header + kUdpHeader + kDestQp);
}

void load_behind_grh(ClassicBpfAssembler& code, Label first) {
  code.load8(kIpv6NextHeader);
  code.jump_if_not_equal(kBthBehindGrh, first);
  code.load32(kIpv6Header + kDestQp);
}

/// Writes the program that `PacketFanout` describes. The packet begins behind the Ethernet header and its outer VLAN
/// tag, which the kernel has recorded; loads relative to the link layer would not reach the data of a super-frame.
[[nodiscard]] std::vector<sock_filter> write_program(std::uint32_t shard_bits) {
  ClassicBpfAssembler code;
  const Label tagged = code.make_label();
  const Label untagged = code.make_label();
  const Label ipv4 = code.make_label();
  const Label ipv6 = code.make_label();
  const Label grh = code.make_label();
  const Label first = code.make_label();

  code.set_index(0);
  code.load_ancillary(SKF_AD_PROTOCOL);
  code.jump_if_equal(ETH_P_8021Q, tagged);
  code.jump_if_not_equal(ETH_P_8021AD, untagged);
  code.place(tagged);
  code.load16(kTypeInTag);
  code.set_index(kTagBytes);

  code.place(untagged);
  code.jump_if_equal(ETH_P_IP, ipv4);
  code.jump_if_equal(ETH_P_IPV6, ipv6);
  code.jump_if_equal(kRoceV1Type, grh);
  code.give(0);

  code.place(ipv4);
  load_behind_ipv4(code, first);
  give_shard(code, shard_bits, first);
  code.place(ipv6);
  load_behind_ipv6(code, first);
  give_shard(code, shard_bits, first);
  code.place(grh);
  load_behind_grh(code, first);
  give_shard(code, shard_bits, first);

  code.place(first);
  code.give(0);
  return code.finish();
}

[[nodiscard]] int set(int socket, int option, const void* value, socklen_t size) {
  return ::setsockopt(socket, SOL_PACKET, option, value, size) == 0 ? 0 : errno;
}

}  // namespace

int PacketFanout::join(int socket) {
  constexpr int type_shift = 16;
  // The group, not its sockets, decides whether they get the frames that this machine sends.
  constexpr int type = PACKET_FANOUT_CBPF | kIgnoreOutgoing;
  if (group_) {
    const int member = *group_ | type << type_shift;
    return set(socket, PACKET_FANOUT, &member, sizeof member);
  }
  const int founder = (type | PACKET_FANOUT_FLAG_UNIQUEID) << type_shift;
  if (const int error = set(socket, PACKET_FANOUT, &founder, sizeof founder)) return error;
  int group = 0;
  socklen_t size = sizeof group;
  if (::getsockopt(socket, SOL_PACKET, PACKET_FANOUT, &group, &size) != 0) return errno;
  group_ = static_cast<std::uint16_t>(group);
  std::vector<sock_filter> program = write_program(shard_bits_);
  sock_fprog description{};
  description.len = static_cast<unsigned short>(program.size());
  description.filter = program.data();
  return set(socket, PACKET_FANOUT_DATA, &description, sizeof description);
}

}  // namespace roce::link
