// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace roce::test {

// A program that is linked with counted_heap.cc has its `new` and `delete` counted there, those of all threads
// together.

/// How often `new` was called.
[[nodiscard]] std::uint64_t heap_allocations();

/// Bytes that the program has from `new`, with what the allocator adds to each piece.
[[nodiscard]] std::size_t heap_bytes();

/// The most bytes that it had since `reset_heap_peak`, or since its start.
[[nodiscard]] std::size_t heap_peak();
void reset_heap_peak();

}  // namespace roce::test
