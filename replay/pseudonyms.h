// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "replay/rewrite_rules.h"
#include "roce/wire/types.h"

namespace roce::replay {

/// Other names for what a capture should not tell: the same value becomes the same pseudonym, different ones become
/// different ones, and nobody finds the way back without the key. Groups, broadcasts and zeros stay what they are.
class Pseudonyms {
 public:
  explicit Pseudonyms(const PseudonymKey& key) : key_(key) {}

  /// Locally administered. With the same key the same in each capture, unless two addresses of one want the same.
  [[nodiscard]] MacAddress mac(const MacAddress& address);
  /// Of 10.0.0.0/8 for an IPv4-mapped one, else of fd00::/8; a link-local one that has a MAC address in it stays the
  /// link-local one of that address's pseudonym.
  [[nodiscard]] Gid gid(const Gid& gid);
  /// A permutation of the numbers of 32 bits.
  [[nodiscard]] std::uint32_t number32(std::uint32_t number) const;
  /// The same of 64 bits.
  [[nodiscard]] std::uint64_t number64(std::uint64_t number) const;
  /// The membership stays, and the default partition.
  [[nodiscard]] PKey p_key(PKey key) const;
  /// The low 32 bits stay, so that what lay behind one another does.
  [[nodiscard]] std::uint64_t virtual_address(std::uint64_t address) const;
  /// Replaces bytes by others that depend on all of them. False: there is nothing in them but zeros, which stay.
  bool replace(std::span<std::byte> data) const;

 private:
  [[nodiscard]] std::uint64_t hash(std::uint64_t purpose, Bytes data) const;
  [[nodiscard]] std::uint64_t permute(std::uint64_t number, unsigned half_bits, std::uint64_t purpose) const;

  PseudonymKey key_;
  std::map<MacAddress, MacAddress> macs_;
  std::set<MacAddress> used_macs_;
  std::map<Gid, Gid> gids_;
  std::set<Gid> used_gids_;
};

}  // namespace roce::replay
