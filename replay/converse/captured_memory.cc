// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/captured_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace roce::replay {

namespace {

constexpr std::uint64_t kLeastRegion = 8;

/// The part of a region that was touched; it begins at a multiple of 8, which atomics need.
struct Extent {
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  bool is_touched = false;  // if not, only its key is known
  bool is_invalidated = false;

  [[nodiscard]] std::uint64_t length() const { return last - first + 1; }
};

using Extents = std::map<std::uint32_t, Extent>;

[[nodiscard]] std::uint32_t key_of(const CapturedRegion& region) {
  return region.r_key.value();
}

/// Returns the extents of the regions of `side`, by their keys; together they have at most `most` bytes.
[[nodiscard]] tl::expected<Extents, std::string> extents_of(const Conversation& conversation, std::uint8_t side,
                                                            std::uint64_t most) {
  Extents extents;
  for (const CapturedOperation& operation : conversation.operations) {
    if (operation.side == side) continue;
    if (operation.invalidate) extents[operation.invalidate->value()].is_invalidated = true;
    // A refused request may name any address.
    if (operation.operation == Operation::send || operation.end == analysis::MessageEnd::refused) continue;
    if (const std::string why = contradiction_in(operation); !why.empty()) {
      return tl::unexpected(fmt::format("the request in frame {} {}", operation.frame, why));
    }
    if (operation.length == 0) continue;
    Extent& extent = extents[operation.r_key.value()];
    extent.first = std::min(extent.first, operation.remote_address & ~std::uint64_t{7});
    extent.last = std::max(extent.last, operation.remote_address + (operation.length - 1));
    extent.is_touched = true;
  }
  std::uint64_t left = most;
  for (auto& [key, extent] : extents) {
    if (!extent.is_touched) {
      extent.first = 0;
      extent.last = kLeastRegion - 1;
    }
    // An extent may span the whole address space, whose length does not fit into 64 bits.
    if (left == 0 || extent.last - extent.first > left - 1) {
      return tl::unexpected(fmt::format(
          "its requests reach from 0x{:x} to 0x{:x} with R_Key 0x{:08x}: more memory than the {} MiB that are left",
          extent.first, extent.last, key, left >> 20U));
    }
    left -= extent.length();
  }
  return extents;
}

/// Carries out the operations in their order, and learns from the data that they found. No operation
/// contradicts itself, and each lies within its region.
class Replica {
 public:
  explicit Replica(CapturedMemory& memory) : memory_(memory) {
    for (const CapturedRegion& region : memory.regions) known_.emplace_back(region.before.size(), false);
  }

  void carry_out(const CapturedOperation& operation, std::size_t index) {
    if (operation.end == analysis::MessageEnd::refused || operation.data.empty()) return;
    region_ = memory_.region_of(operation.r_key);
    offset_ = static_cast<std::size_t>(operation.remote_address - memory_.regions[region_].address);
    switch (operation.operation) {
      case Operation::write:
      case Operation::atomic_write:
        put(operation.data);
        break;
      case Operation::read_request:
        find(operation.data, index);
        break;
      case Operation::compare_swap:
      case Operation::fetch_add: {
        find(operation.data, index);
        std::uint64_t value = 0;
        std::memcpy(&value, operation.data.data(), std::min(sizeof value, operation.data.size()));
        if (operation.operation == Operation::fetch_add) value += operation.compare_add;
        if (operation.operation == Operation::compare_swap && value == operation.compare_add) value = operation.swap;
        put(std::as_bytes(std::span{&value, 1}));
        break;
      }
      default:
        break;
    }
  }

 private:
  void put(std::span<const std::byte> data) {
    std::ranges::copy(data, memory_.regions[region_].after.begin() + static_cast<std::ptrdiff_t>(offset_));
    std::fill_n(known_[region_].begin() + static_cast<std::ptrdiff_t>(offset_), data.size(), true);
  }

  /// Notes that these data were found. Bytes of which nothing was known count as there from the beginning.
  void find(std::span<const std::byte> data, std::size_t index) {
    CapturedRegion& region = memory_.regions[region_];
    bool is_changed = false;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::size_t at = offset_ + i;
      if (!known_[region_][at]) {
        region.before[at] = region.after[at] = data[i];
        known_[region_][at] = true;
      }
      is_changed = is_changed || region.after[at] != data[i];
    }
    if (!is_changed) return;
    memory_.changes.push_back({index, region_, offset_, {data.begin(), data.end()}});
    put(data);
  }

  CapturedMemory& memory_;
  std::vector<std::vector<bool>> known_;
  std::size_t region_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace

std::size_t CapturedMemory::region_of(RKey key) const {
  const auto found = std::ranges::lower_bound(regions, key.value(), {}, key_of);
  const bool is_there = found != regions.end() && found->r_key == key;
  return is_there ? static_cast<std::size_t>(found - regions.begin()) : regions.size();
}

tl::expected<std::uint64_t, std::string> memory_length(const Conversation& conversation, std::uint8_t side,
                                                       std::uint64_t most) {
  const tl::expected<Extents, std::string> extents = extents_of(conversation, side, most);
  if (!extents) return tl::unexpected(extents.error());
  std::uint64_t all = 0;
  for (const auto& [key, extent] : *extents) all += extent.length();
  return all;
}

tl::expected<CapturedMemory, std::string> memory_of(const Conversation& conversation, std::uint8_t side,
                                                    std::uint64_t most) {
  const tl::expected<Extents, std::string> extents = extents_of(conversation, side, most);
  if (!extents) return tl::unexpected(extents.error());
  CapturedMemory memory;
  for (const auto& [key, extent] : *extents) {
    CapturedRegion region;
    region.r_key = RKey{key};
    region.address = extent.first;
    region.is_invalidated = extent.is_invalidated;
    region.before.resize(extent.length());
    region.after.resize(extent.length());
    memory.regions.push_back(std::move(region));
  }
  Replica replica{memory};
  for (std::size_t i = 0; i < conversation.operations.size(); ++i) {
    const CapturedOperation& operation = conversation.operations[i];
    if (operation.side != side && operation.operation != Operation::send) replica.carry_out(operation, i);
  }
  return memory;
}

}  // namespace roce::replay
