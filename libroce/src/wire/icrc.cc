// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/icrc.h"

#include <isa-l/crc.h>

#include "roce/wire/grh.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"
#include "wire/crc.h"
#include "wire/icrc_mask.h"
#include "wire/network_headers.h"
#include "wire/text.h"

namespace roce {

namespace {

#if defined(__x86_64__) && !defined(__AVX__)
/// True if the CRC library takes its AVX-512 path, which needs VPCLMULQDQ; all others leave the registers clean.
bool is_crc_wide() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("vpclmulqdq") != 0;
}

/// ISA-L 2.30 returns from its AVX-512 CRC with the upper register halves in use, and each SSE instruction of the
/// caller then waits for them (measured: 196 ns instead of 44 for a packet of 1 KB).
std::uint32_t crc_and_leave_avx(std::uint32_t seed, const std::uint8_t* bytes, std::uint64_t size) {
  static const bool is_wide = is_crc_wide();
  const std::uint32_t result = crc32_gzip_refl(seed, bytes, size);
  if (is_wide) asm volatile("vzeroupper");
  return result;
}

// A pointer, not a test after the call: if there is nothing to clear, this is a jump into the library, which for 64
// bytes saves a tenth of the time. Static initialisation elsewhere may already compute an ICRC: it is never null.
constinit auto* run_crc = &crc_and_leave_avx;
[[maybe_unused]] const bool kIsCrcChosen = [] {
  if (!is_crc_wide()) run_crc = &crc32_gzip_refl;
  return true;
}();
#else
constexpr auto* run_crc = &crc32_gzip_refl;
#endif

/// Byte 4 of the BTH: FECN, BECN and six reserved bits.
constexpr std::size_t kBthResv8a = 4;

// The masked bytes are at the same positions in every packet without options: a few lookups change the seed so that one
// CRC over the unmasked bytes gives the CRC over the masked ones. Positions count from the network header.

struct Ipv4Masks {
  static constexpr std::size_t kBth = 28;
  static constexpr auto kTos = crc::make_mask_table(1);
  static constexpr auto kTtl = crc::make_mask_table(8);
  static constexpr auto kChecksum0 = crc::make_mask_table(10);
  static constexpr auto kChecksum1 = crc::make_mask_table(11);
  static constexpr auto kUdpChecksum0 = crc::make_mask_table(26);
  static constexpr auto kUdpChecksum1 = crc::make_mask_table(27);
  static constexpr auto kResv8a = crc::make_mask_table(kBth + kBthResv8a);

  static std::uint32_t seed(const std::uint8_t* p) {
    return crc::kLrhSeed ^ kTos[p[1]] ^ kTtl[p[8]] ^ kChecksum0[p[10]] ^ kChecksum1[p[11]] ^ kUdpChecksum0[p[26]] ^
           kUdpChecksum1[p[27]] ^ kResv8a[p[kBth + kBthResv8a]];
  }
};

/// Masks for the first eight bytes of an IPv6 header and of a GRH.
struct Ipv6FirstWordMasks {
  static constexpr auto kClassHigh = crc::make_mask_table(0, 0x0F);
  static constexpr auto kClassLow = crc::make_mask_table(1);
  static constexpr auto kFlow0 = crc::make_mask_table(2);
  static constexpr auto kFlow1 = crc::make_mask_table(3);
  static constexpr auto kHopLimit = crc::make_mask_table(7);

  static std::uint32_t seed(const std::uint8_t* p) {
    return crc::kLrhSeed ^ kClassHigh[p[0]] ^ kClassLow[p[1]] ^ kFlow0[p[2]] ^ kFlow1[p[3]] ^ kHopLimit[p[7]];
  }
};

struct Ipv6Masks {
  static constexpr std::size_t kBth = 48;
  static constexpr auto kUdpChecksum0 = crc::make_mask_table(46);
  static constexpr auto kUdpChecksum1 = crc::make_mask_table(47);
  static constexpr auto kResv8a = crc::make_mask_table(kBth + kBthResv8a);

  static std::uint32_t seed(const std::uint8_t* p) {
    return Ipv6FirstWordMasks::seed(p) ^ kUdpChecksum0[p[46]] ^ kUdpChecksum1[p[47]] ^ kResv8a[p[kBth + kBthResv8a]];
  }
};

struct GrhMasks {
  static constexpr std::size_t kBth = 40;
  static constexpr auto kResv8a = crc::make_mask_table(kBth + kBthResv8a);

  static std::uint32_t seed(const std::uint8_t* p) {
    return Ipv6FirstWordMasks::seed(p) ^ kResv8a[p[kBth + kBthResv8a]];
  }
};

struct TransportMasks {
  static constexpr auto kResv8a = crc::make_mask_table(kBthResv8a);
};

/// Returns the seed for headers of any length, with IPv4 options or IPv6 extension headers.
std::uint32_t seed_of_any(const std::uint8_t* p, HeaderId network, std::size_t bth_offset) {
  std::uint32_t seed = crc::kLrhSeed;
  for_each_masked_byte(network, bth_offset, [&](std::size_t position, std::uint8_t mask, IcrcMistake) {
    seed ^= crc::rewind(static_cast<std::uint8_t>(~p[position] & mask), position);
  });
  return seed;
}

IcrcUnchecked why_unchecked(const Packet& packet) {
  if (!packet.is_roce()) return IcrcUnchecked::not_roce;
  switch (packet.problem().reason) {
    case ParseReason::cut_short:
      return IcrcUnchecked::cut_short;
    case ParseReason::fragment:
      return IcrcUnchecked::fragmented;
    default:
      return IcrcUnchecked::malformed;
  }
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, Bytes bytes) {
  return run_crc(crc, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

// W-ICRC-1 (CRC-32 over 8 bytes of ones, then from the network header through the pad)
std::uint32_t compute_icrc(Bytes covered, HeaderId network, std::size_t bth_offset) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(covered.data());
  std::uint32_t seed = 0;
  if (network == HeaderId::ipv4 && bth_offset == Ipv4Masks::kBth) {
    seed = Ipv4Masks::seed(p);
  } else if (network == HeaderId::ipv6 && bth_offset == Ipv6Masks::kBth) {
    seed = Ipv6Masks::seed(p);
  } else if (network == HeaderId::grh && bth_offset == GrhMasks::kBth) {
    seed = GrhMasks::seed(p);
  } else {
    seed = seed_of_any(p, network, bth_offset);
  }
  return crc32(seed, covered);
}

std::uint32_t crc_behind(NetworkHeaders headers) {
  for_each_masked_byte(headers.network, headers.size, [&](std::size_t position, std::uint8_t mask, IcrcMistake) {
    if (position < headers.size) headers.bytes[position] |= std::byte{mask};
  });
  return crc32(crc::kLrhSeed, Bytes{headers.bytes.data(), headers.size});
}

std::uint32_t compute_icrc(Bytes transport, const NetMeta& net) {
  // The length fields count the ICRC, which `transport` does not include.
  const std::uint32_t seed = crc_behind(make_network_headers(net, transport.size() + 4));
  return crc32(seed ^ TransportMasks::kResv8a[std::to_integer<std::uint8_t>(transport[kBthResv8a])], transport);
}

void move_icrc(std::span<std::byte> transport, const NetMeta& from, const NetMeta& to) {
  constexpr std::size_t icrc_size = 4;
  const Bytes covered = transport.first(transport.size() - icrc_size);
  std::uint32_t difference = compute_icrc(covered, from) ^ compute_icrc(covered, to);
  for (std::byte& byte : transport.last(icrc_size)) {
    byte ^= static_cast<std::byte>(difference);
    difference >>= 8U;
  }
}

IcrcVerdict check_icrc(const Packet& packet) {
  IcrcVerdict verdict;
  // W-ICRC-3 (a packet of which a covered byte is missing is not checked)
  if (!packet.has_icrc()) {
    verdict.reason = why_unchecked(packet);
    return verdict;
  }
  verdict.stored = packet.stored_icrc();
  const std::byte* data = packet.bytes().data();
  const std::uint32_t end = packet.icrc_offset();
  if (packet.network_header() != HeaderId::none) {
    const std::uint32_t start = packet.network_offset();
    verdict.computed =
        compute_icrc(Bytes{data + start, end - start}, packet.network_header(), packet.bth_offset() - start);
    verdict.status = verdict.computed == verdict.stored ? IcrcStatus::good : IcrcStatus::bad;
    return verdict;
  }
  const NetMeta net = packet.net();
  const Bytes transport{data + packet.bth_offset(), end - packet.bth_offset()};
  verdict.computed = compute_icrc(transport, net);
  verdict.status = verdict.computed == verdict.stored ? IcrcStatus::good : IcrcStatus::bad;
  if (net.version == RoceVersion::v2_ipv4 && !net.ip_id) {
    // W-ICRC-4 (a hidden IPv4 identification is solved for): its two bytes go straight into the register, so if only
    // they differ, the difference of the CRCs, taken back to their place, is the difference of the two bytes. The DF
    // bit behind them is hidden, too: RNICs set it, but need not.
    constexpr std::size_t id_offset = 4;
    constexpr std::uint32_t df_behind_id = 0x40'0000;
    const std::size_t behind_id = kSize<Ipv4> + kSize<Udp> + transport.size() - id_offset;
    const std::uint32_t difference = crc::rewind_far(verdict.computed ^ verdict.stored, behind_id);
    if ((difference & ~df_behind_id) <= 0xFFFF) {
      verdict.status = IcrcStatus::good_for_ip_id;
      verdict.ip_id = __builtin_bswap16(static_cast<std::uint16_t>(difference));
      verdict.computed = verdict.stored;
    }
  }
  return verdict;
}

std::string to_string(const IcrcVerdict& verdict) {
  switch (verdict.status) {
    case IcrcStatus::good:
      return "good";
    case IcrcStatus::bad:
      return "bad";
    case IcrcStatus::good_for_ip_id:
      return "good for IP ID " + text::hex(verdict.ip_id, 4);
    case IcrcStatus::not_checked:
      break;
  }
  switch (verdict.reason) {
    case IcrcUnchecked::not_roce:
      return "not checked (not RoCE)";
    case IcrcUnchecked::cut_short:
      return "not checked (cut short)";
    case IcrcUnchecked::fragmented:
      return "not checked (IP fragment)";
    case IcrcUnchecked::malformed:
    case IcrcUnchecked::none:
      break;
  }
  return "not checked (malformed)";
}

}  // namespace roce
