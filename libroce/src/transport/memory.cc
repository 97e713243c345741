// SPDX-License-Identifier: BSD-2-Clause
#include "transport/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "transport/faults.h"
#include "transport/refusal.h"

namespace roce::transport::detail {
namespace {

constexpr std::uint32_t kMaxSlots = 1U << 20;
constexpr std::uint32_t kVariantMask = 0xFF;
constexpr std::uint64_t kMaxAddress = std::numeric_limits<std::uint64_t>::max();

constexpr Access kFlush = Access::flush_global | Access::flush_persistent;
constexpr Access kRemoteRights = Access::remote_write | Access::remote_read | Access::remote_atomic | kFlush;
constexpr Access kRegionRights = kRemoteRights | Access::local_write | Access::mw_bind | Access::zero_based;
constexpr Access kWindowRights = kRemoteRights | Access::zero_based;

constexpr std::uint32_t bits(Access access) {
  return static_cast<std::uint32_t>(access);
}

constexpr Access common(Access a, Access b) {
  return static_cast<Access>(bits(a) & bits(b));
}

// MEM-03 (remote write and remote atomic need local write): no peer may change what we may not change.
constexpr bool lacks_local_write(Access wanted, Access of_region) {
  return common(wanted, Access::remote_write | Access::remote_atomic) != Access::none &&
         !allows(of_region, Access::local_write);
}

}  // namespace

MemoryTable::MemoryTable(std::uint16_t device, std::uint32_t capacity, RandomSource& random)
    : device_(device),
      capacity_(std::min(capacity, kMaxSlots)),
      mask_(std::bit_ceil(std::max(capacity_, 1U)) - 1),
      random_(&random) {}

VerbResult<std::uint32_t> MemoryTable::take(std::uint32_t pd, Kind kind) {
  std::uint32_t index = 0;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (slots_.size() < capacity_) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
    records_.emplace_back();
  } else {
    return refuse(VerbErrorCode::no_resources, "memory regions and windows", "at most max_mr",
                  std::uint64_t{capacity_} + 1, capacity_);
  }
  const std::uint32_t last_key = slots_[index].key;
  std::uint32_t key = (static_cast<std::uint32_t>((*random_)()) & ~(mask_ << 8)) | index << 8;
  // MEM-14 (the next owner of a slot gets a new key): a key that is still in use somewhere must not open the memory of
  // the slot's next owner. 0 is excluded too: it is the value of a key that was never set.
  while (key == last_key || key == 0) key = (key & ~kVariantMask) | ((key + 1) & kVariantMask);
  slots_[index] = Slot{};
  slots_[index].key = key;
  slots_[index].pd = pd;
  records_[index] = Record{.kind = kind, .generation = records_[index].generation};
  return index;
}

void MemoryTable::release(std::uint32_t index) {
  slots_[index].rights = 0;
  slots_[index].base = nullptr;
  Record& record = records_[index];
  record.kind = Kind::free;
  if (++record.generation == 0) record.generation = 1;
  free_.push_back(index);
}

MrInfo MemoryTable::info(std::uint32_t index) const {
  const Slot& slot = slots_[index];
  return {LKey{slot.key}, RKey{slot.key}, slot.start, slot.length};
}

namespace {

/// Checks what is to become a region, and returns the first address of it.
[[nodiscard]] VerbResult<std::uint64_t> start_of(const MrInit& init) {
  const std::uint64_t length = init.memory.size();
  if (init.memory.data() == nullptr) return invalid("memory", "a place in memory", 0, 1);
  if (!allows(kRegionRights, init.access)) {
    return invalid("access", "only bits of Access", bits(init.access), bits(kRegionRights));
  }
  if (lacks_local_write(init.access, init.access)) {
    return invalid("access", "local_write beside remote_write or remote_atomic", bits(init.access),
                   bits(init.access | Access::local_write));
  }
  const bool zero_based = allows(init.access, Access::zero_based);
  const std::uint64_t start =
      init.address.value_or(zero_based ? 0 : reinterpret_cast<std::uintptr_t>(init.memory.data()));
  // MEM-05 (zero-based addresses count from the start)
  if (zero_based && start != 0) return invalid("address", "0 with zero_based", start, 0);
  if (start > kMaxAddress - length) {
    return invalid("address", "an end below 2^64: at most", start, kMaxAddress - length);
  }
  return start;
}

}  // namespace

void MemoryTable::open(std::uint32_t index, const MrInit& init, std::uint64_t start) {
  Slot& slot = slots_[index];
  slot.start = start;
  slot.length = init.memory.size();
  slot.base = init.memory.data();
  slot.rights = bits(init.access) | kValid | kRegion;
  records_[index].access = init.access;
  records_[index].invalidatable = init.invalidatable;
}

VerbResult<Mr> MemoryTable::register_region(std::uint32_t pd, const MrInit& init) {
  const VerbResult<std::uint64_t> start = start_of(init);
  if (!start) return tl::unexpected(start.error());
  const VerbResult<std::uint32_t> index = take(pd, Kind::region);
  if (!index) return tl::unexpected(index.error());
  open(*index, init, *start);
  return Mr{*index, records_[*index].generation, device_};
}

VerbResult<std::uint32_t> MemoryTable::change_region(Mr mr, std::uint32_t pd, const MrInit& init) {
  if (!names(mr, Kind::region)) return unknown_handle("mr", mr, device_);
  const VerbResult<std::uint64_t> start = start_of(init);
  if (!start) return tl::unexpected(start.error());
  const std::uint32_t windows = records_[mr.index].windows;
  if (windows != 0) return refuse(VerbErrorCode::in_use, "mr", "no windows bound to it", windows);
  open(mr.index, init, *start);
  return std::exchange(slots_[mr.index].pd, pd);
}

VerbResult<MrInfo> MemoryTable::query(Mr mr) const {
  if (!names(mr, Kind::region)) return unknown_handle("mr", mr, device_);
  return info(mr.index);
}

VerbResult<MrInfo> MemoryTable::renew_key(Mr mr, std::uint8_t variant) {
  if (!names(mr, Kind::region)) return unknown_handle("mr", mr, device_);
  Slot& slot = slots_[mr.index];
  // MEM-07 (a new variant makes an invalidated region valid)
  slot.key = (slot.key & ~kVariantMask) | variant;
  slot.rights = bits(records_[mr.index].access) | kValid | kRegion;
  return info(mr.index);
}

VerbResult<std::uint32_t> MemoryTable::deregister(Mr mr) {
  if (!names(mr, Kind::region)) return unknown_handle("mr", mr, device_);
  // MEM-11 (a region with windows bound to it cannot be deregistered)
  if (const std::uint32_t windows = records_[mr.index].windows; windows != 0) {
    return refuse(VerbErrorCode::in_use, "mr", "no window bound to it", windows, 0);
  }
  release(mr.index);
  return slots_[mr.index].pd;
}

VerbResult<Mw> MemoryTable::create_window(std::uint32_t pd, MwType type) {
  const VerbResult<std::uint32_t> index = take(pd, Kind::window);
  if (!index) return tl::unexpected(index.error());
  Record& record = records_[*index];
  record.type = type;
  return Mw{*index, record.generation, device_};
}

VerbResult<RKey> MemoryTable::query(Mw mw) const {
  if (!names(mw, Kind::window)) return unknown_handle("mw", mw, device_);
  return RKey{slots_[mw.index].key};
}

VerbResult<std::uint32_t> MemoryTable::destroy(Mw mw) {
  if (!names(mw, Kind::window)) return unknown_handle("mw", mw, device_);
  if (fault(Fault::window_outlives)) return slots_[mw.index].pd;
  unbind(mw.index);
  release(mw.index);
  return slots_[mw.index].pd;
}

void MemoryTable::unbind(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.rights == 0) return;
  --records_[records_[index].region].windows;
  slot.rights = 0;
}

// MEM-13 (the windows bound on a QP are unbound with it)
void MemoryTable::unbind_windows_of(Qpn qpn) {
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index].qpn_mask != 0 && slots_[index].qpn == qpn.value()) unbind(index);
  }
}

// MEM-06 (only regions made for it, without windows, and type 2 windows of the QP can be invalidated)
bool MemoryTable::invalidate(RKey key, std::uint32_t pd, Qpn qpn) {
  const Slot* found = find(key.value());
  if (found == nullptr || !found->admits(key.value(), pd, qpn, Access::none)) return false;
  const auto index = static_cast<std::uint32_t>(found - slots_.data());
  const Record& record = records_[index];
  if (record.kind == Kind::window) {
    if (record.type != MwType::type2) return false;
    if (!fault(Fault::invalidate_not_done)) unbind(index);
    return true;
  }
  // A window would still give access to the invalidated region.
  if (!record.invalidatable || record.windows != 0) return false;
  slots_[index].rights = 0;
  return true;
}

// MEM-10 (same PD, the right to bind, local write for remote write and atomic, a range inside the region)
bool MemoryTable::may_bind(const MwBinding& binding, std::uint32_t pd) const {
  if (!names(binding.mr, Kind::region) || !allows(kWindowRights, binding.access)) return false;
  const Slot& region = slots_[binding.mr.index];
  const Access of_region = records_[binding.mr.index].access;
  if (region.rights == 0 || region.pd != pd || !allows(of_region, Access::mw_bind)) return false;
  if (allows(of_region, Access::zero_based) || lacks_local_write(binding.access, of_region)) return false;
  // The ways to flush a region depend on its kind of memory; a window cannot add to them.
  if (!allows(of_region, common(binding.access, kFlush))) return false;
  return region.at(binding.address, binding.length) != nullptr;
}

bool MemoryTable::bind(const MwBinding& binding, std::uint32_t pd, Qpn qpn) {
  if (!names(binding.mw, Kind::window)) return false;
  const std::uint32_t index = binding.mw.index;
  Slot& window = slots_[index];
  Record& record = records_[index];
  const bool type2 = record.type == MwType::type2;
  const bool zero_based = allows(binding.access, Access::zero_based);
  if (window.pd != pd) return false;
  // MEM-09 (a type 2 window has to be unbound to be bound)
  if (type2 ? window.rights != 0 || binding.length == 0 : zero_based) return false;
  if (binding.length != 0 && !may_bind(binding, pd) && !fault(Fault::bind_unchecked)) return false;

  unbind(index);
  // MEM-08 (a type 1 window gets a new key each time)
  const std::uint32_t variant = type2 ? binding.variant : window.key + 1;
  window.key = (window.key & ~kVariantMask) | (variant & kVariantMask);
  if (binding.length == 0) return true;
  const Slot& region = slots_[binding.mr.index];
  window.start = zero_based ? 0 : binding.address;
  window.length = binding.length;
  window.base = region.base + static_cast<std::ptrdiff_t>(binding.address - region.start);
  window.qpn = qpn.value();
  window.qpn_mask = type2 ? Qpn::kMax : 0;
  window.rights = bits(binding.access) | kValid;
  if (fault(Fault::window_any_qp)) window.qpn_mask = 0;
  if (fault(Fault::window_range_ignored)) window.length = region.length - (binding.address - region.start);
  if (fault(Fault::window_has_regions_rights)) window.rights = bits(records_[binding.mr.index].access) | kValid;
  record.region = binding.mr.index;
  ++records_[binding.mr.index].windows;
  return true;
}

Scattered MemoryTable::scatter(std::uint32_t pd, std::span<const Sge> sges, std::uint64_t offset, Bytes bytes) const {
  for (const Sge& sge : sges) {
    if (bytes.empty()) return Scattered::done;
    if (fault(Fault::scatter_stops_at_empty) && sge.length == 0) return Scattered::too_long;
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const std::size_t part = std::min<std::size_t>(sge.length - offset, bytes.size());
    std::byte* to = local(sge.l_key, pd, sge.address + offset, part, true);
    if (to == nullptr) return Scattered::bad_key;
    std::memcpy(to, bytes.data(), part);
    if (fault(Fault::receive_overrun) && bytes.size() > part) to[part] = bytes[part];
    bytes = bytes.subspan(part);
    offset = 0;
  }
  return bytes.empty() ? Scattered::done : Scattered::too_long;
}

bool MemoryTable::gather(std::uint32_t pd, std::span<const Sge> sges, std::uint64_t offset, std::uint32_t length,
                         std::byte* out) const {
  for (const Sge& sge : sges) {
    if (length == 0) return true;
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(sge.length - offset, length));
    const std::byte* from = local(sge.l_key, pd, sge.address + offset, part, false);
    if (from == nullptr) return false;
    std::memcpy(out, from, part);
    out += part;
    length -= part;
    offset = 0;
  }
  return length == 0;
}

}  // namespace roce::transport::detail
