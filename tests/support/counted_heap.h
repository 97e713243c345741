// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace roce::test {

// counted_heap.cc counts the calls of `new` and `delete` in a program that is
// linked with it, for all threads together.

/// Returns how often `new` was called.
[[nodiscard]] std::uint64_t heap_allocations();

/// Returns the bytes that the program has from `new`, with what the allocator adds to each piece.
[[nodiscard]] std::size_t heap_bytes();

/// Returns the largest number of bytes since `reset_heap_peak`, or since the start of the program.
[[nodiscard]] std::size_t heap_peak();
void reset_heap_peak();

}  // namespace roce::test
