// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "replay/rules/rewrite_rules.h"
#include "roce/wire/types.h"

namespace roce::replay {

/// Replaces what a capture should not reveal: equal values become the same pseudonym, different ones become different
/// ones, and there is no way back without the key. Groups, broadcasts and zeros stay as they are.
class Pseudonyms {
 public:
  explicit Pseudonyms(const PseudonymKey& key) : key_(key) {}

  /// Returns a locally administered address. A key gives the same one in each capture, unless two addresses collide.
  [[nodiscard]] MacAddress mac(const MacAddress& address);
  /// Returns an address of 10.0.0.0/8 for an IPv4-mapped one, else of fd00::/8. A link-local address that contains a
  /// MAC address becomes the link-local address of that one's pseudonym.
  [[nodiscard]] Gid gid(const Gid& gid);
  /// Permutes the 32-bit numbers.
  [[nodiscard]] std::uint32_t number32(std::uint32_t number) const;
  /// Permutes the 64-bit numbers.
  [[nodiscard]] std::uint64_t number64(std::uint64_t number) const;
  /// Replaces the partition; the membership bit stays, and so does the default partition.
  [[nodiscard]] PKey p_key(PKey key) const;
  /// Keeps the low 32 bits, so that adjacent places stay adjacent.
  [[nodiscard]] std::uint64_t virtual_address(std::uint64_t address) const;
  /// Replaces bytes by others that depend on all of them. False: they are all zeros, which stay.
  bool replace(std::span<std::byte> data) const;

 private:
  [[nodiscard]] std::uint64_t hash(std::uint64_t purpose, Bytes data) const;
  [[nodiscard]] std::uint64_t permute(std::uint64_t number, unsigned half_bits, std::uint64_t purpose) const;
  /// The same, but 0 stays 0 and no other number becomes 0.
  [[nodiscard]] std::uint64_t permute_but_zero(std::uint64_t number, unsigned half_bits, std::uint64_t purpose) const;

  PseudonymKey key_;
  std::map<MacAddress, MacAddress> macs_;
  std::set<MacAddress> used_macs_;
  std::map<Gid, Gid> gids_;
  std::set<Gid> used_gids_;
};

}  // namespace roce::replay
