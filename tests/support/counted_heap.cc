// SPDX-License-Identifier: BSD-2-Clause
#include "support/counted_heap.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// These are not thread-local: such variables would be allocated when they are first used.
std::atomic<std::uint64_t> allocations{0};
std::atomic<std::size_t> bytes{0};
std::atomic<std::size_t> peak{0};

void* take(std::size_t size) noexcept {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) return nullptr;
  const std::size_t usable = malloc_usable_size(memory);
  const std::size_t now = bytes.fetch_add(usable) + usable;
  std::size_t most = peak.load();
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void* take_or_throw(std::size_t size) {
  void* memory = take(size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// All forms are needed, as AddressSanitizer pairs those that are left out with its own.
void* operator new(std::size_t size) {
  return take_or_throw(size);
}
void* operator new[](std::size_t size) {
  return take_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return take(size);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept {
  give_back(memory);
}

namespace roce::test {

std::uint64_t heap_allocations() {
  return allocations;
}

std::size_t heap_bytes() {
  return bytes;
}

std::size_t heap_peak() {
  return peak;
}

void reset_heap_peak() {
  peak = bytes.load();
}

}  // namespace roce::test
