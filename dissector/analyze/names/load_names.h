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
  std::string path;         ///< of the file
  std::optional<Gid> host;  ///< the address in front

  /// Splits an argument; a text whose part in front of the first `=` is not one whole address is a path as it stands.
  [[nodiscard]] static NamesArgument of(std::string_view text);
};

/// Adds the names of a file of at most 64 MiB: with an address, the list of `rdma -j resource show qp`
/// (`suggest_from_rdma_resource`); else an NCCL log (`suggest_from_nccl_log`) or lines of a user (`add_name_lines`),
/// which are told apart by what is in them. Error: the file and why it cannot be read, or the place and its problem;
/// then some of its names may have been added.
[[nodiscard]] tl::expected<void, std::string> load_names(const NamesArgument& argument, Names& names);

}  // namespace roce::analyze
