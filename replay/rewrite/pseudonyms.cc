// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/pseudonyms.h"

#include <algorithm>
#include <array>
#include <bit>

#include "roce/transport/address.h"
#include "roce/wire/field.h"

namespace roce::replay {

namespace {

/// The purpose of a hash, so that hashes of a key and of an address with the same bytes have nothing in common.
enum Purpose : std::uint64_t { kMac = 1, kIpv4, kIpv6, kNumber32, kNumber64, kPartition, kVirtualAddress, kData };

/// Returns the bytes of a number, the most significant first.
std::array<std::byte, 8> bytes_of(std::uint64_t number) {
  std::array<std::byte, 8> bytes{};
  store_big_endian<8>(bytes.data(), number);
  return bytes;
}

/// SipHash-2-4 (Aumasson, Bernstein), a keyed hash for short inputs. None of the libraries in use has one.
class SipHash {
 public:
  explicit SipHash(const PseudonymKey& key)
      : v_{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
           key[1] ^ 0x7465646279746573} {}

  std::uint64_t of(Bytes data) {
    std::size_t i = 0;
    for (; i + 8 <= data.size(); i += 8) {
      add(__builtin_bswap64(load_big_endian<8>(data.data() + i)));
    }
    std::uint64_t last = std::uint64_t{data.size()} << 56U;
    for (unsigned shift = 0; i < data.size(); ++i, shift += 8) {
      last |= std::to_integer<std::uint64_t>(data[i]) << shift;
    }
    add(last);
    v_[2] ^= 0xFF;
    for (int round = 0; round < 4; ++round) mix();
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void add(std::uint64_t word) {
    v_[3] ^= word;
    mix();
    mix();
    v_[0] ^= word;
  }
  void mix() {
    v_[0] += v_[1];
    v_[1] = std::rotl(v_[1], 13) ^ v_[0];
    v_[0] = std::rotl(v_[0], 32);
    v_[2] += v_[3];
    v_[3] = std::rotl(v_[3], 16) ^ v_[2];
    v_[0] += v_[3];
    v_[3] = std::rotl(v_[3], 21) ^ v_[0];
    v_[2] += v_[1];
    v_[1] = std::rotl(v_[1], 17) ^ v_[2];
    v_[2] = std::rotl(v_[2], 32);
  }

  std::array<std::uint64_t, 4> v_;
};

template <typename Address>
bool is_zero(const Address& address) {
  return std::all_of(address.octets.begin(), address.octets.end(), [](std::uint8_t octet) { return octet == 0; });
}

/// Writes the low bytes of a number into the octets from `first` on.
template <typename Address>
void put(Address& address, std::size_t first, std::uint64_t number) {
  for (std::size_t i = address.octets.size(); i-- > first; number >>= 8U) {
    address.octets[i] = static_cast<std::uint8_t>(number & 0xFF);
  }
}

}  // namespace

std::uint64_t Pseudonyms::hash(std::uint64_t purpose, Bytes data) const {
  return SipHash{{key_[0] ^ purpose, key_[1]}}.of(data);
}

/// Permutes numbers by a Feistel network, which is a permutation whatever its round function is.
std::uint64_t Pseudonyms::permute(std::uint64_t number, unsigned half_bits, std::uint64_t purpose) const {
  constexpr std::uint64_t rounds = 6;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = number >> half_bits & mask;
  std::uint64_t right = number & mask;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t next = left ^ (hash(purpose << 8U | round, bytes_of(right)) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

MacAddress Pseudonyms::mac(const MacAddress& address) {
  constexpr std::uint8_t group_bit = 1;
  if ((address.octets[0] & group_bit) != 0 || is_zero(address)) return address;
  const auto known = macs_.find(address);
  if (known != macs_.end()) return known->second;
  MacAddress made{{0x02}};
  std::uint64_t number = hash(kMac, std::as_bytes(std::span{address.octets}));
  do put(made, 1, number++);
  while (!used_macs_.insert(made).second);
  macs_.emplace(address, made);
  return made;
}

Gid Pseudonyms::gid(const Gid& gid) {
  if (transport::is_multicast(gid) || is_zero(gid)) return gid;
  if (const auto mac_inside = transport::mac_of_link_local(gid)) return transport::link_local_gid(mac(*mac_inside));
  const auto known = gids_.find(gid);
  if (known != gids_.end()) return known->second;
  std::uint64_t number = hash(gid.is_ipv4_mapped() ? kIpv4 : kIpv6, std::as_bytes(std::span{gid.octets}));
  Gid made;
  do {
    if (gid.is_ipv4_mapped()) {
      constexpr std::uint64_t hosts = 0xFF'FFFE;
      made = Gid::from_ipv4({{10}});
      put(made, 13, 1 + number++ % hosts);
    } else {
      made = Gid{{0xFD}};
      put(made, 8, number++);
    }
  } while (!used_gids_.insert(made).second);
  gids_.emplace(gid, made);
  return made;
}

std::uint64_t Pseudonyms::permute_but_zero(std::uint64_t number, unsigned half_bits, std::uint64_t purpose) const {
  if (number == 0) return 0;
  // The one number that would become 0 goes on to what 0 would become, which no other number does.
  do number = permute(number, half_bits, purpose);
  while (number == 0);
  return number;
}

std::uint32_t Pseudonyms::number32(std::uint32_t number) const {
  return static_cast<std::uint32_t>(permute_but_zero(number, 16, kNumber32));
}

std::uint64_t Pseudonyms::number64(std::uint64_t number) const {
  return permute_but_zero(number, 32, kNumber64);
}

PKey Pseudonyms::p_key(PKey key) const {
  const std::uint16_t membership = key.value() & 0x8000;
  if (key.partition() == kDefaultPKey.partition() || key.partition() == 0) return key;
  std::uint64_t partition = key.partition();
  // Goes on until the result is a partition that is not a special one.
  do partition = permute(partition, 8, kPartition);
  while (partition >= kDefaultPKey.partition() || partition == 0);
  return PKey{static_cast<std::uint16_t>(membership | partition)};
}

std::uint64_t Pseudonyms::virtual_address(std::uint64_t address) const {
  return permute(address >> 32U, 16, kVirtualAddress) << 32U | (address & 0xFFFF'FFFF);
}

bool Pseudonyms::replace(std::span<std::byte> data) const {
  if (std::all_of(data.begin(), data.end(), [](std::byte byte) { return byte == std::byte{}; })) return false;
  const std::uint64_t seed = hash(kData, data);
  for (std::size_t i = 0; i < data.size(); i += 8) {
    const std::array<std::byte, 8> block = bytes_of(hash(kData << 8U, bytes_of(seed + i)));
    std::copy_n(block.begin(), std::min<std::size_t>(8, data.size() - i),
                data.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

}  // namespace roce::replay
