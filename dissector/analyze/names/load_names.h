// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "analyze/names/names.h"

namespace roce::analyze {

/// An argument of `--names`: `FILE`, or `ADDRESS=FILE` for a list of the QPs of one address.
struct NamesArgument {
  std::string path;
  std::optional<Gid> host;

  [[nodiscard]] static NamesArgument of(std::string_view text);
};

/// Adds the names of a file, which is recognised by what is in it: lines of a user (`add_name_lines`), an NCCL log
/// (`suggest_from_nccl_log`), or the list of `rdma -j resource show qp` (`suggest_from_rdma_resource`). Error: the file
/// and why it cannot be read, or the place and its problem.
[[nodiscard]] tl::expected<void, std::string> load_names(const NamesArgument& argument, Names& names);

}  // namespace roce::analyze
