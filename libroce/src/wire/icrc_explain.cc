// SPDX-License-Identifier: BSD-2-Clause
#include <bit>
#include <vector>

#include "roce/wire/constants.h"
#include "roce/wire/icrc.h"
#include "wire/crc.h"
#include "wire/icrc_mask.h"
#include "wire/network_headers.h"

namespace roce {

namespace {

constexpr auto kMistakeCount = static_cast<std::size_t>(IcrcMistake::count);

/// A set of mistakes.
using Mistakes = std::uint32_t;

constexpr Mistakes bit(IcrcMistake mistake) {
  return Mistakes{1} << static_cast<unsigned>(mistake);
}
constexpr bool has(Mistakes set, IcrcMistake mistake) {
  return (set & bit(mistake)) != 0;
}

std::uint32_t crc_bit_by_bit(std::uint32_t crc, std::span<const std::byte> bytes, std::uint32_t polynomial) {
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int i = 0; i < 8; ++i) crc = (crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
  }
  return crc;
}

std::uint32_t reverse_bits(std::uint32_t value) {
  std::uint32_t reversed = 0;
  for (int i = 0; i < 32; ++i, value >>= 1) reversed = reversed << 1 | (value & 1);
  return reversed;
}

/// A packet as its ICRC sees it, for computing its ICRC with mistakes.
class Subject {
 public:
  explicit Subject(const Packet& packet) : packet_(packet), network_(packet.network_header()) {
    std::uint32_t start = packet.network_offset();
    if (network_ == HeaderId::none) {
      start = packet.bth_offset();
      const NetworkHeaders headers = make_network_headers(packet.net(), packet.icrc_offset() + kIcrcSize - start);
      network_ = headers.network;
      covered_.assign(headers.bytes.begin(), headers.bytes.begin() + static_cast<std::ptrdiff_t>(headers.size));
      known_from_ = headers.size;
    }
    start_ = start - known_from_;
    bth_offset_ = packet.bth_offset() - start_;
    covered_.insert(covered_.end(), packet.bytes().begin() + start, packet.bytes().begin() + packet.icrc_offset());
  }

  /// True if anything is known of the headers in front of the BTH.
  [[nodiscard]] bool has_network() const { return network_ != HeaderId::none; }

  /// Returns the mistakes that would change the ICRC of this packet.
  [[nodiscard]] Mistakes possible() const {
    Mistakes set = bit(IcrcMistake::lrh_prefix_missing) | bit(IcrcMistake::crc32c) | bit(IcrcMistake::not_inverted) |
                   bit(IcrcMistake::byte_swapped) | bit(IcrcMistake::bit_reversed);
    for_each_masked_byte(network_, bth_offset_,
                         [&](std::size_t, std::uint8_t, IcrcMistake mistake) { set |= bit(mistake); });
    if (!packet_.pad().empty()) set |= bit(IcrcMistake::pad_not_covered);
    return set;
  }

  [[nodiscard]] std::uint32_t compute(Mistakes mistakes) const {
    constexpr std::uint32_t kCrc32cPolynomial = 0x82F6'3B78;
    std::vector<std::byte> bytes = covered_;
    for_each_masked_byte(network_, bth_offset_, [&](std::size_t position, std::uint8_t mask, IcrcMistake mistake) {
      if (!has(mistakes, mistake)) bytes[position] |= std::byte{mask};
    });
    if (has(mistakes, IcrcMistake::pad_not_covered)) bytes.resize(bytes.size() - packet_.pad().size());
    if (!has(mistakes, IcrcMistake::lrh_prefix_missing)) bytes.insert(bytes.begin(), 8, std::byte{0xFF});
    std::uint32_t crc =
        has(mistakes, IcrcMistake::crc32c) ? ~crc_bit_by_bit(~0U, bytes, kCrc32cPolynomial) : crc32(0, bytes);
    if (has(mistakes, IcrcMistake::not_inverted)) crc = ~crc;
    if (has(mistakes, IcrcMistake::byte_swapped)) crc = __builtin_bswap32(crc);
    if (has(mistakes, IcrcMistake::bit_reversed)) crc = reverse_bits(crc);
    return crc;
  }

  /// True if another IPv4 identification gives the stored ICRC; `ip_id` is that one.
  [[nodiscard]] bool find_ip_id(std::uint16_t& ip_id) const {
    if (network_ != HeaderId::ipv4) return false;
    constexpr std::size_t id_offset = 4;
    const std::uint32_t difference = crc::rewind_far(compute(0) ^ packet_.stored_icrc(), covered_.size() - id_offset);
    if (difference > 0xFFFF) return false;
    const auto id = static_cast<std::uint16_t>(load_big_endian<2>(covered_.data() + id_offset));
    ip_id = static_cast<std::uint16_t>(id ^ __builtin_bswap16(static_cast<std::uint16_t>(difference)));
    return true;
  }

  /// Looks for one byte, among the covered bytes and those of the ICRC, whose change explains the difference.
  void find_damaged_byte(IcrcExplanation& explanation) const {
    std::uint32_t difference = compute(0) ^ packet_.stored_icrc();
    for (std::uint32_t i = 0; i < 4; ++i) {
      if ((difference & ~(0xFFU << 8 * i)) == 0)
        return found(explanation, packet_.icrc_offset() + i, difference >> 8 * i);
    }
    for (std::size_t i = covered_.size(); i-- > known_from_;) {
      difference = crc::rewind(difference, 1);
      if (difference <= 0xFF) return found(explanation, static_cast<std::uint32_t>(start_ + i), difference);
    }
  }

 private:
  static void found(IcrcExplanation& explanation, std::uint32_t offset, std::uint32_t bits) {
    explanation.damaged_offset = offset;
    explanation.damaged_bits = static_cast<std::uint8_t>(bits);
  }

  const Packet& packet_;
  HeaderId network_;
  std::vector<std::byte> covered_;
  std::size_t known_from_ = 0;  ///< offset in `covered_` from which on it has the packet's own bytes
  std::size_t start_ = 0;       ///< offset of `covered_` in the packet's bytes, modulo 2^64
  std::size_t bth_offset_ = 0;  ///< offset of the BTH in `covered_`
};

}  // namespace

IcrcExplanation explain_icrc(const Packet& packet) {
  IcrcExplanation explanation;
  if (!packet.has_icrc()) return explanation;
  const Subject subject{packet};
  if (!subject.has_network()) return explanation;
  const std::uint32_t stored = packet.stored_icrc();
  if (subject.compute(0) == stored) return explanation;
  const Mistakes possible = subject.possible();
  const auto report = [&](Mistakes set) {
    for (std::size_t i = 0; i < kMistakeCount; ++i) {
      if (has(set, static_cast<IcrcMistake>(i))) {
        explanation.mistakes[explanation.mistake_count++] = static_cast<IcrcMistake>(i);
      }
    }
    return explanation;
  };
  for (Mistakes one = 1; one <= possible; one <<= 1) {
    if ((one & possible) != 0 && subject.compute(one) == stored) return report(one);
  }
  if (subject.find_ip_id(explanation.ip_id)) return report(bit(IcrcMistake::other_ip_id));
  for (Mistakes one = 1; one <= possible; one <<= 1) {
    for (Mistakes other = one << 1; other <= possible; other <<= 1) {
      const Mistakes both = one | other;
      if ((both & possible) == both && subject.compute(both) == stored) return report(both);
    }
  }
  subject.find_damaged_byte(explanation);
  return explanation;
}

std::string_view to_string(IcrcMistake mistake) {
  switch (mistake) {
    case IcrcMistake::traffic_class_not_masked:
      return "TOS / traffic class not masked";
    case IcrcMistake::ttl_not_masked:
      return "TTL / hop limit not masked";
    case IcrcMistake::flow_label_not_masked:
      return "flow label not masked";
    case IcrcMistake::ip_checksum_not_masked:
      return "IPv4 header checksum not masked";
    case IcrcMistake::udp_checksum_not_masked:
      return "UDP checksum not masked";
    case IcrcMistake::resv8a_not_masked:
      return "BTH resv8a (FECN, BECN, reserved) not masked";
    case IcrcMistake::lrh_prefix_missing:
      return "the eight bytes of ones for the LRH are missing";
    case IcrcMistake::pad_not_covered:
      return "pad bytes not covered";
    case IcrcMistake::crc32c:
      return "CRC-32C polynomial instead of CRC-32";
    case IcrcMistake::not_inverted:
      return "final inversion missing";
    case IcrcMistake::byte_swapped:
      return "result stored most significant byte first";
    case IcrcMistake::bit_reversed:
      return "result bit-reversed";
    case IcrcMistake::other_ip_id:
      return "computed with another IPv4 identification";
    case IcrcMistake::count:
      break;
  }
  return {};
}

std::string to_string(const IcrcExplanation& explanation, const Packet& packet, std::uint64_t base_offset) {
  std::string text;
  for (const IcrcMistake mistake : explanation.found()) {
    if (!text.empty()) text += "; ";
    text += to_string(mistake);
    if (mistake == IcrcMistake::other_ip_id) text += " (" + std::to_string(explanation.ip_id) + ")";
  }
  if (!text.empty()) return text;
  if (explanation.damaged_bits == 0) return "no common mistake and no single damaged byte gives this ICRC";
  const auto hex = [](unsigned value) {
    constexpr std::string_view digits = "0123456789abcdef";
    return std::string{"0x"} + digits[value >> 4] + digits[value & 15];
  };
  const auto found = std::to_integer<unsigned>(packet.bytes()[explanation.damaged_offset]);
  return "one damaged byte at offset " + std::to_string(base_offset + explanation.damaged_offset) + ": found " +
         hex(found) + ", the ICRC was computed over " + hex(found ^ explanation.damaged_bits) +
         (std::popcount(explanation.damaged_bits) == 1 ? " (one bit flipped)" : "");
}

}  // namespace roce
