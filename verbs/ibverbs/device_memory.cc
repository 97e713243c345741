// SPDX-License-Identifier: BSD-2-Clause
// Device memory: memory of this process, which a program reaches by copying, and the network by a region.
#include "verbs/ibverbs/device_memory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

struct DmObject : ibv_dm {
  std::shared_ptr<std::vector<std::byte>> bytes;  ///< held by its regions, too

  [[nodiscard]] bool has(std::uint64_t offset, std::size_t length) const {
    return offset <= bytes->size() && length <= bytes->size() - offset;
  }
  /// Hardware copies whole words.
  [[nodiscard]] bool can_copy(std::uint64_t offset, std::size_t length) const {
    constexpr std::size_t word = 4;
    return offset % word == 0 && length % word == 0 && has(offset, length);
  }
};
[[nodiscard]] DmObject& object_of(ibv_dm* memory) {
  return *static_cast<DmObject*>(memory);
}

int copy_in(ibv_dm* memory, std::uint64_t offset, const void* from, std::size_t length) {
  return status_of([&] {
    DmObject& object = object_of(memory);
    if (!object.can_copy(offset, length)) return EINVAL;
    std::memcpy(object.bytes->data() + offset, from, length);
    return 0;
  });
}

int copy_out(void* to, ibv_dm* memory, std::uint64_t offset, std::size_t length) {
  return status_of([&] {
    const DmObject& object = object_of(memory);
    if (!object.can_copy(offset, length)) return EINVAL;
    std::memcpy(to, object.bytes->data() + offset, length);
    return 0;
  });
}

}  // namespace

ibv_dm* alloc_device_memory(ibv_context* context, ibv_alloc_dm_attr* wanted) {
  return object_of([&]() -> OrErrno<ibv_dm*> {
    if (wanted->comp_mask != 0 || wanted->length == 0) return refused(EINVAL);
    if (wanted->length > kMostDeviceMemory) return refused(ENOMEM);
    auto memory = std::make_unique<DmObject>();
    memory->context = context;
    memory->memcpy_to_dm = copy_in;
    memory->memcpy_from_dm = copy_out;
    memory->bytes = std::make_shared<std::vector<std::byte>>(wanted->length);
    return memory.release();
  });
}

int free_device_memory(ibv_dm* memory) {
  return status_of([&] {
    if (object_of(memory).bytes.use_count() != 1) return EBUSY;
    delete &object_of(memory);
    return 0;
  });
}

ibv_mr* register_device_memory(ibv_pd* pd, ibv_dm* memory, std::uint64_t offset, std::size_t length, unsigned access) {
  return object_of([&]() -> OrErrno<ibv_mr*> {
    DmObject& object = object_of(memory);
    if ((access & IBV_ACCESS_ZERO_BASED) == 0 || !object.has(offset, length)) return refused(EINVAL);
    const auto region = register_memory(pd, {object.bytes->data() + offset, length, std::nullopt, access});
    if (!region) return region;
    object_of(*region).device_memory = object.bytes;
    // It is not in the address space of the program.
    (*region)->addr = nullptr;
    return region;
  });
}

}  // namespace roce::verbs
