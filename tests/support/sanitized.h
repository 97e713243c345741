// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::test {

/// True if the address sanitizer is in this build, with which everything takes many times as long.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kIsSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace roce::test
