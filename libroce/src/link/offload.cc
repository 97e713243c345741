// SPDX-License-Identifier: BSD-2-Clause
#include "link/offload.h"

#include <linux/if_ether.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace roce::link {

namespace {

constexpr std::size_t kTypeOffset = 12;
constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kTagBytes = 4;
constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;
constexpr std::size_t kUdpBytes = 8;
constexpr std::size_t kUdpLengthOffset = 4;
constexpr std::size_t kUdpChecksumOffset = 6;

/// Returns the length in bytes of the IP header `ip` of EtherType `type`; 0 if UDP does not follow it directly.
[[nodiscard]] std::size_t ip_bytes(unsigned type, std::span<const std::byte> ip) {
  constexpr std::byte v4_without_options{0x45};
  if (type == ETH_P_IP && ip.size() >= kIpv4Bytes && ip[0] == v4_without_options && ip[9] == std::byte{IPPROTO_UDP}) {
    return kIpv4Bytes;
  }
  if (type == ETH_P_IPV6 && ip.size() >= kIpv6Bytes && ip[6] == std::byte{IPPROTO_UDP}) return kIpv6Bytes;
  return 0;
}

[[nodiscard]] unsigned type_at(std::span<const std::byte> frame, std::size_t at) {
  return std::to_integer<unsigned>(frame[at]) << 8U | std::to_integer<unsigned>(frame[at + 1]);
}

}  // namespace

std::uint16_t internet_checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += word;
  }
  std::uint32_t last = 0;
  std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  sum += last;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::optional<SegmentedHeaders> segmented_headers(std::span<const std::byte> frame, std::uint32_t segment_size) {
  if (frame.size() < kEthernetBytes + kTagBytes || segment_size > std::numeric_limits<std::uint16_t>::max()) {
    return std::nullopt;
  }
  std::size_t ip = kEthernetBytes;
  unsigned type = type_at(frame, kTypeOffset);
  if (type == ETH_P_8021Q || type == ETH_P_8021AD) {
    type = type_at(frame, kTypeOffset + kTagBytes);
    ip += kTagBytes;
  }
  const std::size_t network = ip_bytes(type, frame.subspan(ip));
  const std::size_t udp = ip + network;
  if (network == 0 || frame.size() < udp + kUdpBytes) return std::nullopt;

  std::optional<SegmentedHeaders> made{std::in_place};
  made->offload = {.flags = kNeedsChecksum,
                   .segmentation = kUdpSegmentation,
                   .header_bytes = static_cast<std::uint16_t>(udp + kUdpBytes),
                   .segment_size = static_cast<std::uint16_t>(segment_size),
                   .checksum_start = static_cast<std::uint16_t>(udp),
                   .checksum_offset = kUdpChecksumOffset};
  std::copy_n(frame.begin(), udp + kUdpBytes, made->bytes.begin());
  // The pseudo header (RFC 768, RFC 8200, 8.1): both addresses, protocol, length. The addresses end the IP header.
  const std::size_t addresses = network == kIpv4Bytes ? 8 : 32;
  std::array<std::byte, 36> pseudo{};
  std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(udp - addresses), addresses, pseudo.begin());
  pseudo[addresses + 1] = std::byte{IPPROTO_UDP};
  std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(udp + kUdpLengthOffset), 2,
              pseudo.begin() + static_cast<std::ptrdiff_t>(addresses + 2));
  const auto sum = static_cast<std::uint16_t>(~internet_checksum(std::span{pseudo}.first(addresses + 4)));
  std::memcpy(made->bytes.data() + udp + kUdpChecksumOffset, &sum, sizeof sum);
  return made;
}

}  // namespace roce::link
