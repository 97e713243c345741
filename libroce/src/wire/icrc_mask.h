// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "roce/wire/icrc.h"
#include "wire/network_headers.h"

namespace roce {

/// Calls `use(position, mask, mistake)` for each byte of which the ICRC reads the bits of `mask` as ones (IBTA vol. 1,
/// annexes A16.4.3 and A17.4.4), in packet order. Positions count from the network header; `mistake` is the name for
/// leaving the mask out. W-ICRC-2 (TOS, TTL, flow label, IPv4 and UDP checksum, BTH byte 4).
template <typename Use>
constexpr void for_each_masked_byte(HeaderId network, std::size_t bth_offset, Use use) {
  if (network == HeaderId::ipv4) {
    use(1, std::uint8_t{0xFF}, IcrcMistake::traffic_class_not_masked);
    use(8, std::uint8_t{0xFF}, IcrcMistake::ttl_not_masked);
    use(10, std::uint8_t{0xFF}, IcrcMistake::ip_checksum_not_masked);
    use(11, std::uint8_t{0xFF}, IcrcMistake::ip_checksum_not_masked);
  } else {
    use(0, std::uint8_t{0x0F}, IcrcMistake::traffic_class_not_masked);
    use(1, std::uint8_t{0xF0}, IcrcMistake::traffic_class_not_masked);
    use(1, std::uint8_t{0x0F}, IcrcMistake::flow_label_not_masked);
    use(2, std::uint8_t{0xFF}, IcrcMistake::flow_label_not_masked);
    use(3, std::uint8_t{0xFF}, IcrcMistake::flow_label_not_masked);
    use(7, std::uint8_t{0xFF}, IcrcMistake::ttl_not_masked);
  }
  if (network != HeaderId::grh) {
    use(bth_offset - 2, std::uint8_t{0xFF}, IcrcMistake::udp_checksum_not_masked);
    use(bth_offset - 1, std::uint8_t{0xFF}, IcrcMistake::udp_checksum_not_masked);
  }
  use(bth_offset + 4, std::uint8_t{0xFF}, IcrcMistake::resv8a_not_masked);
}

/// Returns the CRC of the eight bytes of ones and the masked `headers`, with which the ICRC goes on at the BTH.
[[nodiscard]] std::uint32_t crc_behind(NetworkHeaders headers);

}  // namespace roce
