// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce::transport {

/// A handle of an object of one `Device`. It is a value: copying it does not keep the object alive, and using
/// it after the object was destroyed, or with another device, gives an error and never reaches another object.
template <typename Tag>
struct Handle {
  std::uint32_t index = 0;
  std::uint16_t generation = 0;  ///< slot generation, so that a stale handle does not name its successor; never 0
  std::uint16_t device = 0;      ///< number of the device that made it

  friend constexpr bool operator==(const Handle&, const Handle&) = default;
};

/// Protection domain.
using Pd = Handle<struct PdTag>;
/// Memory region.
using Mr = Handle<struct MrTag>;
/// Memory window.
using Mw = Handle<struct MwTag>;
/// Completion queue.
using Cq = Handle<struct CqTag>;
/// Shared receive queue.
using Srq = Handle<struct SrqTag>;
/// XRC domain: of target QPs and the SRQs that their requests may name.
using Xrcd = Handle<struct XrcdTag>;
/// Address handle.
using Ah = Handle<struct AhTag>;

}  // namespace roce::transport
