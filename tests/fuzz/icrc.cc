// SPDX-License-Identifier: BSD-2-Clause
// The ICRC of any bytes behind any network header, compared with the specification computed bit by bit. Input: a byte
// that chooses the network header, a byte for the length of the headers in front of the BTH, and the covered bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "roce/wire/icrc.h"
#include "support/reference_icrc.h"

namespace {

using roce::HeaderId;
using roce::test::NetworkKind;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Network {
  NetworkKind kind;
  HeaderId id;
  std::size_t bth_offset;  ///< the offset without options and extension headers
};

constexpr std::array kNetworks{Network{NetworkKind::ipv4, HeaderId::ipv4, 28},
                               Network{NetworkKind::ipv6, HeaderId::ipv6, 48},
                               Network{NetworkKind::grh, HeaderId::grh, 40}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPrefix = 2;
  constexpr std::size_t kBth = 12;
  constexpr std::size_t kMost = 5000;
  if (size < kPrefix || size > kMost) return 0;
  const Network& network = kNetworks[data[0] % kNetworks.size()];
  // Options and extension headers are words of 4 bytes behind the network header; a GRH does not have any.
  const std::size_t bth_offset = network.bth_offset + (network.kind == NetworkKind::grh ? 0 : data[1] % 11 * 4U);
  const std::vector<std::byte> covered(reinterpret_cast<const std::byte*>(data) + kPrefix,
                                       reinterpret_cast<const std::byte*>(data) + size);
  if (covered.size() < bth_offset + kBth) return 0;

  const std::uint32_t expected = roce::test::reference_icrc(covered, network.kind, bth_offset);
  require(roce::compute_icrc(covered, network.id, bth_offset) == expected);

  // If the bytes parse as a packet, its verdict has to match the bytes in the place of its ICRC.
  std::vector<std::byte> frame = covered;
  const auto stored = roce::test::icrc_bytes(expected);
  frame.insert(frame.end(), stored.begin(), stored.end());
  if (network.kind == NetworkKind::grh) {
    const std::vector<std::byte> ethernet{std::byte{}, std::byte{}, std::byte{},     std::byte{},    std::byte{},
                                          std::byte{}, std::byte{}, std::byte{},     std::byte{},    std::byte{},
                                          std::byte{}, std::byte{}, std::byte{0x89}, std::byte{0x15}};
    frame.insert(frame.begin(), ethernet.begin(), ethernet.end());
  }
  const auto link_type = network.kind == NetworkKind::grh ? roce::LinkType::ethernet : roce::LinkType::raw_ip;
  const roce::Packet packet = parse_frame(frame, link_type);
  if (!packet.has_icrc()) return 0;
  const roce::Bytes bytes{frame};
  const std::size_t start = packet.network_offset();
  const NetworkKind kind = packet.version() == roce::RoceVersion::v1        ? NetworkKind::grh
                           : packet.version() == roce::RoceVersion::v2_ipv4 ? NetworkKind::ipv4
                                                                            : NetworkKind::ipv6;
  const std::uint32_t right =
      roce::test::reference_icrc(bytes.subspan(start, packet.icrc_offset() - start), kind, packet.bth_offset() - start);
  const roce::IcrcVerdict verdict = check_icrc(packet);
  require(verdict.computed == right);
  require((verdict.status == roce::IcrcStatus::good) == (right == packet.stored_icrc()));
  return 0;
}
