// SPDX-License-Identifier: BSD-2-Clause
// The requests of the control protocol that are about the bytes of a memory, whoever made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

namespace roce::live {

/// The largest memory that a client can ask for, in bytes.
inline constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 40;

/// A request under way: each call does a part that takes a fraction of a millisecond; the last one returns the answer.
/// The memory has to outlive it.
using MemoryWork = std::function<std::optional<nlohmann::ordered_json>()>;

/// Returns the part of a memory that `offset` and `length` of a request select: without `length` up to the end, at most
/// `longest` bytes. Throws Refusal for a part that is not in the memory; so do all functions below.
[[nodiscard]] std::span<std::byte> range_of(std::span<std::byte> memory, const nlohmann::json& request,
                                            std::uint64_t longest = kMaxMemory);
/// Begins `fill_memory`: with a pattern or with one byte.
[[nodiscard]] MemoryWork fill_memory(std::span<std::byte> memory, const nlohmann::json& request);
/// Begins `check_memory`: of one part, or of several; each with its pattern, its byte or its data; or of one part by
/// its digest.
[[nodiscard]] MemoryWork check_memory(std::span<std::byte> memory, const nlohmann::json& request);
/// Begins `read_memory`: of at most 1 MiB.
[[nodiscard]] MemoryWork read_memory(std::span<std::byte> memory, const nlohmann::json& request);
/// Carries out `write_memory`.
void write_memory(std::span<std::byte> memory, const nlohmann::json& request);

}  // namespace roce::live
