// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "analyze/names/names.h"

namespace roce::analyze {

/// Suggests names for the QPs of an address that `rdma -j resource show qp` of iproute2 lists: `ib_write_bw pid 1234
/// mlx5_0`. The list itself has no addresses. `source` is the name of the file in errors. Error: the text is not such a
/// list.
[[nodiscard]] tl::expected<void, std::string> suggest_from_rdma_resource(std::string_view text,
                                                                         const std::string& source, const Gid& host,
                                                                         Names& names);

}  // namespace roce::analyze
