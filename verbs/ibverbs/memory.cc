// SPDX-License-Identifier: BSD-2-Clause
// Protection domains and memory regions. A region is the program's own memory; nothing is pinned.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

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

[[nodiscard]] OrErrno<ibv_mr*> register_memory(ibv_pd* pd, void* address, std::size_t length,
                                               std::optional<std::uint64_t> start, unsigned access) {
  if ((access & ~(kRights | kHints)) != 0) return refused(EINVAL);
  PdObject& owner = object_of(pd);
  if (!owner.engine->is_usable()) return refused(EIO);
  if ((access & IBV_ACCESS_ON_DEMAND) == 0) {
    if (const int error = populate(address, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0); error != 0) {
      return refused(error);
    }
  }
  auto region = std::make_unique<MrObject>();
  transport::MrInit init;
  init.memory = {static_cast<std::byte*>(address), length};
  init.access = static_cast<transport::Access>(access & kRights);
  init.address = start;
  init.invalidatable = true;
  const auto made = owner.engine->use([&](transport::Device& device, Time) {
    return device.register_memory(owner.handle_of_device, init).and_then([&](transport::Mr handle) {
      region->handle_of_device = handle;
      return device.query_mr(handle);
    });
  });
  if (!made) return refused(errno_of(made.error()));
  region->engine = owner.engine;
  region->context = pd->context;
  region->pd = pd;
  region->addr = address;
  region->length = length;
  region->handle = region->handle_of_device.index;
  region->lkey = made->l_key.value();
  region->rkey = made->r_key.value();
  return region.release();
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
    pd->context = context;
    pd->handle = made->index;
    return pd.release();
  });
}

int ibv_dealloc_pd(struct ibv_pd* pd) {
  return status_of([&] {
    PdObject& object = object_of(pd);
    if (object.engine->is_usable()) {
      const int error = errno_of(object.engine->use(
          [&](transport::Device& device, Time) { return device.destroy_pd(object.handle_of_device); }));
      if (error != 0) return error;
    }
    delete &object;
    return 0;
  });
}

struct ibv_mr* ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int access) {
  return object_of([&] { return register_memory(pd, address, length, std::nullopt, static_cast<unsigned>(access)); });
}

struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  return object_of([&] { return register_memory(pd, address, length, iova, access); });
}

struct ibv_mr* ibv_reg_mr_iova(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}

int ibv_dereg_mr(struct ibv_mr* mr) {
  return status_of([&] {
    MrObject& object = object_of(mr);
    if (object.engine->is_usable()) {
      const int error = errno_of(object.engine->use(
          [&](transport::Device& device, Time) { return device.deregister_memory(object.handle_of_device); }));
      if (error != 0) return error;
    }
    delete &object;
    return 0;
  });
}
