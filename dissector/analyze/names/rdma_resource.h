// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "analyze/names/names.h"

namespace roce::analyze {

/// Suggests names for the QPs that `rdma -j resource show qp` of iproute2 lists: `ib_write_bw pid 1234 mlx5_0`. The
/// list has no addresses. With `host`, the QPs are those of this address; without, those of connections between two QPs
/// of the same numbers, and QPs that are not connected are left out. `source` is the name of the file in errors. Error:
/// the text is not such a list.
[[nodiscard]] tl::expected<void, std::string> suggest_from_rdma_resource(std::string_view text,
                                                                         const std::string& source,
                                                                         const std::optional<Gid>& host, Names& names);

}  // namespace roce::analyze
