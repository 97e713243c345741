// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <system_error>

namespace roce::test {

/// Zeroed memory of which only those pages take room that are written.
class SparseMemory {
 public:
  explicit SparseMemory(std::size_t size)
      : size_(size),
        data_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory() { munmap(data_, size_); }

  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }

 private:
  std::size_t size_;
  void* data_;
};

}  // namespace roce::test
