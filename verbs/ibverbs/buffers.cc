// SPDX-License-Identifier: BSD-2-Clause
// Buffers that the library allocates for a program: ordinary memory here.
#include <sys/mman.h>

#include <memory>

#include "verbs/ibverbs/later_functions.h"
#include "verbs/ibverbs/memory_region.h"
#include "verbs/ibverbs/results.h"

struct ibv_buf {
  ibv_pd* pd = nullptr;
  std::byte* address = nullptr;
  std::size_t size = 0;
};

using namespace roce::verbs;

void* ibv_alloc_buf(struct ibv_pd* pd, size_t size, struct ibv_buf** buffer) {
  return object_of([&]() -> OrErrno<void*> {
    if (size == 0) return refused(EINVAL);
    auto made = std::make_unique<ibv_buf>();
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return refused(errno);
    *made = {pd, static_cast<std::byte*>(memory), size};
    *buffer = made.release();
    return memory;
  });
}

void ibv_free_buf(struct ibv_buf* buffer) {
  if (buffer == nullptr) return;
  ::munmap(buffer->address, buffer->size);
  delete buffer;
}

struct ibv_mr* ibv_reg_buf_mr(struct ibv_pd* pd, struct ibv_buf* buffer, void* address, size_t length, int access) {
  return object_of([&]() -> OrErrno<ibv_mr*> {
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(address) - buffer->address);
    if (pd != buffer->pd || offset > buffer->size || length > buffer->size - offset) return refused(EINVAL);
    return register_memory(pd, {address, length, std::nullopt, static_cast<unsigned>(access)});
  });
}

int ibv_export_buf_dmabuf_fd(struct ibv_buf* /*buffer*/) {
  errno = ENODATA;
  return -1;
}
