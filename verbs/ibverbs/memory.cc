// SPDX-License-Identifier: BSD-2-Clause
// Protection domains and memory regions. A region is the program's own memory; nothing is pinned.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

#include "verbs/ibverbs/destroy.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

// Linux 5.14; the headers of Debian 12's C library have them not yet.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace roce::verbs {

namespace {

/// The rights that regions of ours have; ordering and large pages are hints to hardware.
constexpr unsigned kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED;
constexpr unsigned kHints =
    unsigned{IBV_ACCESS_OPTIONAL_RANGE} | unsigned{IBV_ACCESS_HUGETLB} | unsigned{IBV_ACCESS_ON_DEMAND};

/// Returns EFAULT if a part of the memory is not mapped, or not writable although that is asked for, as pinning does.
[[nodiscard]] int populate(void* address, std::size_t length, bool writable) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(address) / page * page;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(address) + length + page - 1) / page * page;
  const int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  // An older kernel does not know the advice; then a bad address shows when it is used.
  if (::madvise(reinterpret_cast<void*>(start), end - start, advice) == 0 || errno == EINVAL) return 0;
  return errno == ENOMEM || errno == EFAULT ? EFAULT : errno;
}

/// True if a program asks for its whole address space, as it may on demand.
[[nodiscard]] bool is_everything(const Memory& memory) {
  return (memory.access & IBV_ACCESS_ON_DEMAND) != 0 && memory.address == nullptr && memory.length == SIZE_MAX;
}

/// Checks what is to be a region. Errors: as of `register_memory`.
[[nodiscard]] OrErrno<transport::MrInit> init_of(const Memory& memory) {
  if ((memory.access & ~(kRights | kHints)) != 0) return refused(EINVAL);
  if (is_everything(memory)) {
    if ((memory.access & IBV_ACCESS_ZERO_BASED) != 0 || memory.start.value_or(0) != 0) return refused(EINVAL);
    transport::MrInit init;
    // Address 0 is nobody's, and stands for no memory.
    init.memory = {reinterpret_cast<std::byte*>(std::uintptr_t{1}), SIZE_MAX - 1};
    init.access = static_cast<transport::Access>(memory.access & kRights);
    return init;
  }
  if ((memory.access & IBV_ACCESS_ON_DEMAND) == 0 && memory.length != 0) {
    const bool writable = (memory.access & IBV_ACCESS_LOCAL_WRITE) != 0;
    if (const int error = populate(memory.address, memory.length, writable); error != 0) return refused(error);
  }
  // A region of no bytes may be nowhere.
  static std::byte nothing{};
  auto* const bytes = static_cast<std::byte*>(memory.address);
  transport::MrInit init;
  init.memory = {bytes == nullptr && memory.length == 0 ? &nothing : bytes, memory.length};
  init.access = static_cast<transport::Access>(memory.access & kRights);
  init.address = memory.start;
  return init;
}

}  // namespace

OrErrno<ibv_mr*> register_memory(ibv_pd* pd, const Memory& memory) {
  PdObject& owner = object_of(pd);
  if (const int error = error_of(owner); error != 0) return refused(error);
  const auto init = init_of(memory);
  if (!init) return refused(init.error());
  auto region = std::make_unique<MrObject>();
  const auto made = owner.engine->use([&](transport::Device& device, Time) {
    return device.register_memory(owner.handle_of_device, *init).and_then([&](transport::Mr handle) {
      region->handle_of_device = handle;
      return device.query_mr(handle);
    });
  });
  if (!made) return refused(errno_of(made.error()));
  region->engine = owner.engine;
  region->memory = memory;
  region->context = pd->context;
  region->pd = pd;
  region->addr = memory.address;
  region->length = memory.length;
  region->handle = region->handle_of_device.index;
  region->lkey = made->l_key.value();
  region->rkey = made->r_key.value();
  return region.release();
}

int advise_memory(ibv_pd* /*pd*/, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* /*sges*/,
                  std::uint32_t count) {
  return status_of([&] {
    const bool is_known = advice == IBV_ADVISE_MR_ADVICE_PREFETCH || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ||
                          advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
    if (!is_known) return EOPNOTSUPP;
    if (count == 0 || (flags & ~unsigned{IBV_ADVISE_MR_FLAG_FLUSH}) != 0) return EINVAL;
    // Pages come when they are touched.
    return 0;
  });
}

namespace {

/// Gives a region other memory, rights or PD. On an error it is as it was.
[[nodiscard]] int change_region(MrObject& region, ibv_pd* pd, const Memory& memory) {
  if (const int error = error_of(region); error != 0) return error;
  if (const int error = error_of_handle(object_of(pd)); error != 0) return error;
  const auto init = init_of(memory);
  if (!init) return init.error();
  const int error = errno_of(region.engine->use([&](transport::Device& device, Time) {
    return device.change_memory(region.handle_of_device, object_of(pd).handle_of_device, *init);
  }));
  if (error != 0) return error;
  region.pd = pd;
  region.addr = memory.address;
  region.length = memory.length;
  region.memory = memory;
  return 0;
}

}  // namespace
}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_pd* ibv_alloc_pd(struct ibv_context* context) {
  return object_of([&]() -> OrErrno<ibv_pd*> {
    const OrErrno<Engine*> engine = object_of(context).adapter->engine();
    if (!engine) return refused(engine.error());
    auto pd = std::make_unique<PdObject>();
    const auto made = (*engine)->use([](transport::Device& device, Time) { return device.create_pd(); });
    if (!made) return refused(errno_of(made.error()));
    pd->engine = *engine;
    pd->handle_of_device = *made;
    pd->made_by = pd->context = context;
    pd->handle = made->index;
    return pd.release();
  });
}

int ibv_dealloc_pd(struct ibv_pd* pd) {
  return status_of([&] {
    PdObject& object = object_of(pd);
    if (const int error = error_of_handle(object); error != 0) return error;
    if (object.users != 0) return EBUSY;
    if (object.parent != nullptr) {
      --object.parent->users;
    } else if (object.engine->is_usable()) {
      const int error = errno_of(object.engine->use(
          [&](transport::Device& device, Time) { return device.destroy_pd(object.handle_of_device); }));
      if (error != 0) return error;
    }
    delete &object;
    return 0;
  });
}

struct ibv_mr* ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int access) {
  return object_of([&] { return register_memory(pd, {address, length, std::nullopt, static_cast<unsigned>(access)}); });
}

struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  // The macro of verbs.h that stands for ibv_reg_mr gives the address itself.
  const bool begins_at_zero =
      (access & IBV_ACCESS_ZERO_BASED) != 0 && iova == reinterpret_cast<std::uintptr_t>(address);
  const std::optional<std::uint64_t> start = begins_at_zero ? std::nullopt : std::optional{iova};
  return object_of([&] { return register_memory(pd, {address, length, start, access}); });
}

struct ibv_mr* ibv_reg_mr_iova(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}

int ibv_dereg_mr(struct ibv_mr* mr) {
  return destroy(object_of(mr), &transport::Device::deregister_memory);
}

int ibv_rereg_mr(struct ibv_mr* mr, int flags, struct ibv_pd* pd, void* address, size_t length, int access) {
  const auto wanted = static_cast<unsigned>(flags);
  bool is_understood = false;
  const int error = status_of([&] {
    MrObject& region = object_of(mr);
    if (wanted == 0 || (wanted & ~unsigned{IBV_REREG_MR_FLAGS_SUPPORTED}) != 0) return EINVAL;
    // It would become a region of memory of the program.
    if (region.device_memory != nullptr) return EOPNOTSUPP;
    Memory memory = region.memory;
    if ((wanted & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
      if (length == 0) return EINVAL;
      memory.address = address;
      memory.length = length;
      memory.start.reset();
    }
    if ((wanted & IBV_REREG_MR_CHANGE_ACCESS) != 0) memory.access = static_cast<unsigned>(access);
    const bool changes_pd = (wanted & IBV_REREG_MR_CHANGE_PD) != 0;
    if (changes_pd && pd == nullptr) return EINVAL;
    is_understood = true;
    return change_region(region, changes_pd ? pd : region.pd, memory);
  });
  if (error == 0) return 0;
  return is_understood ? IBV_REREG_MR_ERR_CMD : IBV_REREG_MR_ERR_INPUT;
}
