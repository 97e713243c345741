// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "analyze/names/names.h"

namespace roce::analyze {

/// True if the text has lines of NCCL (or RCCL), as NCCL_DEBUG=INFO makes them.
[[nodiscard]] bool is_nccl_log(std::string_view text);

/// Suggests names for the QPs and addresses of an NCCL log: `rank 3 mlx5_0` for a QP, the host's name for its address.
/// Returns the number of QPs that it found. They are in lines `NET/IB: … qpn N … GID N (…/…)`, which NCCL writes at the
/// end that sends, with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET. A rank is that of the largest communicator that
/// a process and its GPU have in the log; other lines, and damaged ones, are passed over.
[[nodiscard]] std::size_t suggest_from_nccl_log(std::string_view text, Names& names);

}  // namespace roce::analyze
