// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "roce/transport/device.h"
#include "roce/transport/verb_error.h"
#include "roce/transport/verbs.h"
#include "roce/wire/types.h"
#include "transport/faults.h"

namespace roce::transport::detail {

/// The result of `MemoryTable::scatter`; `too_long` if the bytes do not fit.
enum class Scattered : std::uint8_t { done, too_long, bad_key };

/// The regions and windows of a device, and the checks on access to them (IBTA vol. 1, 10.6 and 10.7). L_Key and R_Key
/// of a region have the same value: random bits, a slot number below them, and the variant in the low byte. The slot
/// keeps the whole key and compares it.
class MemoryTable {
 public:
  /// Holds `capacity` regions and windows together, at most 2^20. `random` must outlive the table.
  MemoryTable(std::uint16_t device, std::uint32_t capacity, RandomSource& random);

  /// Registers a region. Errors: `invalid_argument` (no memory; rights that do not go together; an address space that
  /// would wrap), `no_resources`.
  VerbResult<Mr> register_region(std::uint32_t pd, const MrInit& init);
  /// Makes a region another one with the same keys, and returns the index of the PD that it was in. Errors: those of
  /// `register_region`; `in_use` while a window is bound to the region. It is as it was then.
  VerbResult<std::uint32_t> change_region(Mr mr, std::uint32_t pd, const MrInit& init);
  [[nodiscard]] VerbResult<MrInfo> query(Mr mr) const;
  /// Gives both keys a new low byte; an invalidated region becomes valid again.
  VerbResult<MrInfo> renew_key(Mr mr, std::uint8_t variant);
  /// Deregisters a region and returns its PD's index. Error: `in_use` while a window is bound to the region.
  VerbResult<std::uint32_t> deregister(Mr mr);

  VerbResult<Mw> create_window(std::uint32_t pd, MwType type);
  [[nodiscard]] VerbResult<RKey> query(Mw mw) const;
  /// Destroys a window, which is unbound first, and returns its PD's index.
  VerbResult<std::uint32_t> destroy(Mw mw);

  /// Returns the memory at `address` if a work request of a QP in `pd` may reach it; nullptr if the key, PD or range is
  /// wrong, the region is invalid, or `write` is asked for without the right. With `length` 0 the address is not
  /// checked, and the pointer must not be used.
  [[nodiscard]] std::byte* local(LKey key, std::uint32_t pd, std::uint64_t address, std::uint64_t length,
                                 bool write) const {
    const Slot* slot = find(key.value());
    if (slot == nullptr) return nullptr;
    // MEM-04 (local use needs a region's key in the QP's PD; writing needs local write)
    const std::uint32_t needed = kRegion | (write ? static_cast<std::uint32_t>(Access::local_write) : 0);
    if (((slot->key ^ key.value()) | (slot->pd ^ pd) | (~slot->rights & needed)) != 0) return nullptr;
    return length == 0 ? slot->base : slot->at(address, length);
  }

  /// Copies `bytes` into the memory of `sges`, from byte `offset` of it on, for a QP in `pd`.
  [[nodiscard]] Scattered scatter(std::uint32_t pd, std::span<const Sge> sges, std::uint64_t offset, Bytes bytes) const;
  /// Copies `length` bytes from the memory of `sges`, from byte `offset` of it on, to `out`; false if a key is wrong.
  [[nodiscard]] bool gather(std::uint32_t pd, std::span<const Sge> sges, std::uint64_t offset, std::uint32_t length,
                            std::byte* out) const;

  /// Returns the memory that a packet for QP `qpn` in `pd` may reach through an R_Key; nullptr if the key with its
  /// variant, the PD, the rights or the range is wrong, the region or window is not valid, or a type 2 window is bound
  /// on another QP. The range is checked for `length` 0 too; the end of the region is then a valid address.
  [[nodiscard]] std::byte* remote(RKey key, std::uint32_t pd, Qpn qpn, std::uint64_t address, std::uint64_t length,
                                  Access needed) const {
    const Slot* slot = find(key.value());
    return slot != nullptr && slot->admits(key.value(), pd, qpn, needed) ? slot->at(address, length) : nullptr;
  }

  /// Gets start and length of the whole region or window that a key names, in the address space of its users; false if
  /// the key does not allow `needed`.
  [[nodiscard]] bool remote_range(RKey key, std::uint32_t pd, Qpn qpn, Access needed, std::uint64_t& address,
                                  std::uint64_t& length) const {
    const Slot* slot = find(key.value());
    if (slot == nullptr || !slot->admits(key.value(), pd, qpn, needed)) return false;
    address = slot->start;
    length = slot->length;
    return true;
  }

  /// Does LOCAL INVALIDATE and the peer's SEND with invalidate. False, with nothing done, unless the key names a valid
  /// region that was made `invalidatable` and has no windows, or a type 2 window bound on QP `qpn`.
  [[nodiscard]] bool invalidate(RKey key, std::uint32_t pd, Qpn qpn);

  /// Does a QP's BIND_MW. False, with nothing done, if it is refused. A type 2 window has to be unbound, and gets
  /// `binding.variant`; a type 1 window may be bound, is unbound by length 0, and gets the next variant each time.
  [[nodiscard]] bool bind(const MwBinding& binding, std::uint32_t pd, Qpn qpn);
  /// Unbinds the type 2 windows of a QP that is destroyed, so that the next QP with its number does not get them.
  void unbind_windows_of(Qpn qpn);

 private:
  // Flags above the bits of Access.
  static constexpr std::uint32_t kValid = 1U << 31;
  static constexpr std::uint32_t kRegion = 1U << 30;

  // Everything that a packet is checked against. A slot that is free, unbound or invalidated has no rights at all.
  struct Slot {
    std::uint64_t start = 0;  // in the address space of its users
    std::uint64_t length = 0;
    std::byte* base = nullptr;
    std::uint32_t key = 0;
    std::uint32_t pd = 0;
    std::uint32_t rights = 0;    // Access | kValid | kRegion
    std::uint32_t qpn = 0;       // the QP of a type 2 window
    std::uint32_t qpn_mask = 0;  // 0: any QP of the PD may use it

    // MEM-02 (a remote access needs the same PD and every right that it uses)
    [[nodiscard]] bool admits(std::uint32_t of_key, std::uint32_t of_pd, Qpn of_qpn, Access needed) const {
      if (fault(Fault::variant_ignored)) of_key = (of_key & ~0xFFU) | (key & 0xFFU);
      if (fault(Fault::pd_ignored)) of_pd = pd;
      if (fault(Fault::right_ignored)) needed = Access::none;
      const std::uint32_t bits = kValid | static_cast<std::uint32_t>(needed);
      return ((key ^ of_key) | (pd ^ of_pd) | ((qpn ^ of_qpn.value()) & qpn_mask) | (~rights & bits)) == 0;
    }
    // start + length never exceeds 2^64 - 1, so an address below the start gives an offset beyond the length.
    [[nodiscard]] std::byte* at(std::uint64_t address, std::uint64_t count) const {
      const std::uint64_t offset = address - start;
      if (fault(Fault::range_end_one) && offset <= length && count == length - offset + 1) return base + offset;
      if (fault(Fault::range_wraps) && address + count < address && count <= length) return base;
      return offset <= length && count <= length - offset ? base + offset : nullptr;
    }
  };

  enum class Kind : std::uint8_t { free, region, window };

  // The members that only verbs need.
  struct Record {
    Kind kind = Kind::free;
    MwType type = MwType::type1;
    bool invalidatable = false;
    std::uint16_t generation = 1;
    Access access = Access::none;  // rights of a region
    std::uint32_t windows = 0;     // number of windows bound to a region
    std::uint32_t region = 0;      // slot of a bound window's region
  };

  // MEM-01 (a key names a slot)
  [[nodiscard]] const Slot* find(std::uint32_t key) const {
    const std::uint32_t index = (key >> 8) & mask_;
    return index < slots_.size() ? slots_.data() + index : nullptr;
  }
  template <typename Tag>
  [[nodiscard]] bool names(Handle<Tag> handle, Kind kind) const {
    return handle.device == device_ && handle.index < records_.size() &&
           records_[handle.index].generation == handle.generation && records_[handle.index].kind == kind;
  }
  [[nodiscard]] VerbResult<std::uint32_t> take(std::uint32_t pd, Kind kind);
  /// Opens a slot to what `init` says; `start`: the region's first address.
  void open(std::uint32_t index, const MrInit& init, std::uint64_t start);
  void release(std::uint32_t index);
  void unbind(std::uint32_t index);
  [[nodiscard]] MrInfo info(std::uint32_t index) const;
  [[nodiscard]] bool may_bind(const MwBinding& binding, std::uint32_t pd) const;

  std::uint16_t device_;
  std::uint32_t capacity_;
  std::uint32_t mask_;
  RandomSource* random_;
  std::vector<Slot> slots_;
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_;
};

}  // namespace roce::transport::detail
