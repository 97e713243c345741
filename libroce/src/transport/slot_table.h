// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/refusal.h"

namespace roce::transport::detail {

/// Maps handles to objects. An object keeps its address until it is erased; a handle of an erased object, or of
/// another device, finds nothing.
template <typename T, typename HandleT>
class SlotTable {
 public:
  SlotTable(std::uint16_t device, std::uint32_t capacity, std::string_view subject)
      : device_(device), capacity_(capacity), subject_(subject) {}

  VerbResult<HandleT> insert(std::unique_ptr<T> object) {
    std::uint32_t index = 0;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else if (slots_.size() < capacity_) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      return refuse(VerbErrorCode::no_resources, subject_, "at most the device's limit", capacity_, capacity_);
    }
    slots_[index].object = std::move(object);
    return HandleT{index, slots_[index].generation, device_};
  }

  [[nodiscard]] T* find(HandleT handle) const {
    if (handle.device != device_ || handle.index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[handle.index];
    return slot.generation == handle.generation ? slot.object.get() : nullptr;
  }

  /// Returns the object, or the error `unknown_handle`.
  [[nodiscard]] VerbResult<T*> get(HandleT handle) const {
    if (T* object = find(handle)) return object;
    return unknown_handle(subject_, handle, device_);
  }

  /// Returns the object in a slot that is in use.
  [[nodiscard]] T& at(std::uint32_t index) const { return *slots_[index].object; }

  /// Erases an object that no other refers to. Errors: `unknown_handle`; `in_use`, with what it `needs`.
  VerbResult<void> erase_unused(HandleT handle, std::string_view needs) {
    VerbResult<T*> object = get(handle);
    if (!object) return tl::unexpected(object.error());
    if ((*object)->users != 0) return refuse(VerbErrorCode::in_use, subject_, needs, (*object)->users);
    erase(handle);
    return {};
  }

  void erase(HandleT handle) {
    Slot& slot = slots_[handle.index];
    slot.object.reset();
    if (++slot.generation == 0) slot.generation = 1;
    free_.push_back(handle.index);
  }

 private:
  struct Slot {
    std::unique_ptr<T> object;
    std::uint16_t generation = 1;
  };

  std::uint16_t device_;
  std::uint32_t capacity_;
  std::string_view subject_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace roce::transport::detail
