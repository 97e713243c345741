// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/memory_model.h"

#include <algorithm>
#include <array>
#include <bit>

namespace roce::conform::fuzz {

bool MemoryModel::may(std::uint32_t r_key, std::uint64_t address, std::uint64_t length, transport::Access right) const {
  return std::ranges::any_of(granted_, [&](const Grant& grant) {
    const Region& region = grant.region;
    return region.r_key == r_key && transport::allows(grant.access, right) && address >= region.address &&
           length <= region.length && address - region.address <= region.length - length;
  });
}

void MemoryModel::remove(Key key) {
  for (Grant& grant : granted_) {
    if (grant.key == key) grant.access = transport::Access::none;
  }
}

bool MemoryModel::has(Key key) const {
  return std::ranges::any_of(
      granted_, [&](const Grant& grant) { return grant.key == key && grant.access != transport::Access::none; });
}

bool MemoryModel::has(Key key, std::uint32_t r_key) const {
  return std::ranges::any_of(granted_, [&](const Grant& grant) {
    return grant.key == key && grant.region.r_key == r_key && grant.access != transport::Access::none;
  });
}

std::optional<std::uint64_t> MemoryModel::length_of(Key key) const {
  const auto grant = std::ranges::find_if(
      granted_, [&](const Grant& one) { return one.key == key && one.access != transport::Access::none; });
  if (grant == granted_.end()) return std::nullopt;
  return grant->region.length;
}

Key MemoryModel::key_of(std::uint32_t r_key) const {
  const auto grant = std::ranges::find_if(granted_, [&](const Grant& one) { return one.region.r_key == r_key; });
  return grant == granted_.end() ? Key::right : grant->key;
}

std::int64_t MemoryModel::offset_of(std::uint32_t r_key, std::uint64_t address) const {
  const auto grant = std::ranges::find_if(granted_, [&](const Grant& one) { return one.region.r_key == r_key; });
  return grant == granted_.end() ? 0 : static_cast<std::int64_t>(address - grant->region.address);
}

std::span<const std::byte> MemoryModel::read(std::uint64_t address, std::uint64_t length) const {
  return std::span{bytes_}.subspan(address - address_, length);
}

void MemoryModel::write(std::uint64_t address, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(address - address_));
}

std::uint64_t MemoryModel::read_word(std::uint64_t address) const {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  std::ranges::copy(read(address, bytes.size()), bytes.begin());
  return std::bit_cast<std::uint64_t>(bytes);
}

std::vector<std::byte> MemoryModel::word(std::uint64_t value) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof value>>(value);
  return {bytes.begin(), bytes.end()};
}

}  // namespace roce::conform::fuzz
