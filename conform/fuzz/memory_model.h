// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conform/fuzz/program.h"
#include "conform/target/target.h"

namespace roce::conform::fuzz {

/// The device's memory as it has to be, and what the peer may do with which part of it.
class MemoryModel {
 public:
  /// A stretch of `bytes` from `address` on, as it is now.
  MemoryModel(std::uint64_t address, std::vector<std::byte> bytes) : address_(address), bytes_(std::move(bytes)) {}

  /// Lets requests with the region's R_Key in.
  void add(Key key, const Region& region, transport::Access access) { granted_.push_back({key, region, access}); }
  /// Lets no request in any more that names this region.
  void remove(Key key);
  /// True if requests may name this region.
  [[nodiscard]] bool has(Key key) const;
  /// True if a request with this key and right may reach all of the range.
  [[nodiscard]] bool may(std::uint32_t r_key, std::uint64_t address, std::uint64_t length,
                         transport::Access right) const;

  /// True if this R_Key is one of those that `key` stands for, and requests may name its region.
  [[nodiscard]] bool has(Key key, std::uint32_t r_key) const;
  /// Returns how many bytes requests with a key may reach; empty if they may reach none.
  [[nodiscard]] std::optional<std::uint64_t> length_of(Key key) const;
  /// Returns the key that has this R_Key, also of a region that was removed; `right` for an unknown one.
  [[nodiscard]] Key key_of(std::uint32_t r_key) const;
  /// Returns how far behind the begin of its region an address is; 0 for an unknown key.
  [[nodiscard]] std::int64_t offset_of(std::uint32_t r_key, std::uint64_t address) const;
  /// Returns the bytes of a range, which has to be in the stretch.
  [[nodiscard]] std::span<const std::byte> read(std::uint64_t address, std::uint64_t length) const;
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  /// Returns the 8 bytes at an address as a number of the device, which has the byte order of this machine.
  [[nodiscard]] std::uint64_t read_word(std::uint64_t address) const;
  /// Returns the bytes of such a number.
  [[nodiscard]] static std::vector<std::byte> word(std::uint64_t value);
  /// Returns the whole stretch.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  struct Grant {
    Key key;
    Region region;
    transport::Access access;
  };

  std::uint64_t address_;
  std::vector<std::byte> bytes_;
  std::vector<Grant> granted_{};
};

}  // namespace roce::conform::fuzz
