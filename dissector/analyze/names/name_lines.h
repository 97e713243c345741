// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "analyze/names/names.h"

namespace roce::analyze {

/// Adds the names of a file that the user writes; `source` is its name in errors:
///
///     # hosts of rack 3
///     192.0.2.17             node17
///     192.0.2.17 qp 0x1a2b   rank 4
///     2001:db8::/32          storage
///
/// A line consists of an address (IPv4, IPv6 or GID, with or without a prefix length) and a name, the rest of the line;
/// or of an address, `qp`, the number of a QP, and its name. `#` at the start of a line or after a space begins a
/// comment. Error: the line and its problem; the names in front of it have been added.
[[nodiscard]] tl::expected<void, std::string> add_name_lines(std::string_view text, const std::string& source,
                                                             Names& names);

}  // namespace roce::analyze
