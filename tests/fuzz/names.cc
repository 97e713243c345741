// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyze/names/name_lines.h"
#include "analyze/names/nccl_log.h"
#include "analyze/names/rdma_resource.h"

// The input is a file for --names, read as lines of a user, as an NCCL log and as a list of `rdma`. Always required:
// nothing that it names has a control character, and an error is one short line of printable text.

namespace {

using namespace roce;
using namespace roce::analyze;

constexpr std::size_t kLongestError = 1000;

void check(bool holds) {
  if (!holds) std::abort();
}

[[nodiscard]] bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// Looks at the names of hosts and QPs that the seeds have.
void look_at(const Names& names) {
  for (const std::uint8_t host : std::array<std::uint8_t, 2>{1, 2}) {
    const QpEnd end{.address = Gid::from_ipv4({{10, 0, 0, host}}), .qpn = Qpn{17}};
    check(is_plain(names.find(end)) && is_plain(names.text(end)));
    check(names.text(end).starts_with(names.text(end.address)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  Names lines;
  if (const auto added = add_name_lines(text, "file", lines); !added) {
    check(is_plain(added.error()) && added.error().size() <= size + kLongestError);
  }
  look_at(lines);
  Names logged;
  const std::size_t qps = suggest_from_nccl_log(text, logged);
  check(qps == 0 || (is_nccl_log(text) && !logged.empty()));
  look_at(logged);
  Names listed;
  const auto added = suggest_from_rdma_resource(text, "file", Gid::from_ipv4({{10, 0, 0, 1}}), listed);
  check(added || (is_plain(added.error()) && added.error().size() <= kLongestError));
  look_at(listed);
  return 0;
}
