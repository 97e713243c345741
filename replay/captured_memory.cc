// SPDX-License-Identifier: BSD-2-Clause
#include "replay/captured_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace roce::replay {

namespace {

constexpr std::uint64_t kLeastRegion = 8;
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

/// Carries out the operations in their order, and learns from what they found.
class Replica {
 public:
  explicit Replica(CapturedMemory& memory) : memory_(memory) {
    for (const CapturedRegion& region : memory.regions) known_.emplace_back(region.before.size(), false);
  }

  void carry_out(const CapturedOperation& operation, std::size_t index) {
    if (operation.end == analysis::MessageEnd::refused || operation.data.empty()) return;
    const auto found = std::ranges::find(memory_.regions, operation.r_key, &CapturedRegion::r_key);
    region_ = static_cast<std::size_t>(found - memory_.regions.begin());
    offset_ = static_cast<std::size_t>(operation.remote_address - found->address);
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

  /// These data were there: from the beginning, as far as nothing was known of the place.
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

tl::expected<CapturedMemory, std::string> memory_of(const Conversation& conversation, std::uint8_t side) {
  struct Extent {
    std::uint64_t begin = UINT64_MAX;
    std::uint64_t end = 0;
    bool is_invalidated = false;
  };
  std::map<std::uint32_t, Extent> extents;
  for (const CapturedOperation& operation : conversation.operations) {
    if (operation.side != side && operation.invalidate) extents[operation.invalidate->value()].is_invalidated = true;
    if (operation.side == side || operation.operation == Operation::send) continue;
    // What was refused may be anywhere.
    if (operation.end == analysis::MessageEnd::refused || operation.length == 0) continue;
    Extent& extent = extents[operation.r_key.value()];
    extent.begin = std::min(extent.begin, operation.remote_address);
    extent.end = std::max(extent.end, operation.remote_address + operation.length);
  }
  CapturedMemory memory;
  std::uint64_t all = 0;
  for (auto& [key, extent] : extents) {
    // A region of which only the key was ever told.
    if (extent.end == 0) extent = {0, kLeastRegion, extent.is_invalidated};
    // Atomics need a multiple of 8.
    const std::uint64_t begin = extent.begin & ~std::uint64_t{7};
    const std::uint64_t bytes = extent.end - begin;
    if (extent.end < extent.begin || bytes > kMostMemory - all) {
      return tl::unexpected(
          fmt::format("its requests reach from 0x{:x} to 0x{:x} with R_Key 0x{:08x}: more than a gigabyte of memory",
                      extent.begin, extent.end, key));
    }
    all += bytes;
    CapturedRegion region;
    region.r_key = RKey{key};
    region.address = begin;
    region.is_invalidated = extent.is_invalidated;
    region.before.resize(bytes);
    region.after.resize(bytes);
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
