// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/load_names.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "analyze/filter/filter.h"
#include "analyze/names/name_lines.h"
#include "analyze/names/nccl_log.h"
#include "analyze/names/rdma_resource.h"

namespace roce::analyze {

namespace {

[[nodiscard]] tl::expected<std::string, std::string> read_file(const std::string& path) {
  const auto fail = [&](int error) {
    return tl::unexpected(fmt::format("cannot read the names in '{}': {}", path, std::strerror(error)));
  };
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) return fail(errno);
  constexpr std::size_t largest = std::size_t{64} << 20;
  std::string text;
  std::vector<char> block(65536);
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), size);
    if (text.size() > largest) {
      return tl::unexpected(fmt::format(
          "'{}' is larger than 64 MiB; of a log of NCCL, the lines with 'NET/IB' and 'comm 0x' are enough", path));
    }
  }
  if (std::ferror(file.get()) != 0) return fail(errno);
  return text;
}

/// True for what may be a list in JSON. A line of a user begins with an address, and never like this.
[[nodiscard]] bool is_list(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

}  // namespace

NamesArgument NamesArgument::of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    const auto pattern = AddressPattern::parse(text.substr(0, equals));
    if (pattern && !pattern->is_mac() && pattern->prefix() == 128) {
      return {.path = std::string{text.substr(equals + 1)}, .host = pattern->address()};
    }
  }
  return {.path = std::string{text}, .host = std::nullopt};
}

tl::expected<void, std::string> load_names(const NamesArgument& argument, Names& names) {
  const auto text = read_file(argument.path);
  if (!text) return tl::unexpected(text.error());
  if (argument.host) return suggest_from_rdma_resource(*text, argument.path, *argument.host, names);
  if (is_nccl_log(*text)) {
    if (suggest_from_nccl_log(*text, names) != 0) return {};
    return tl::unexpected(
        fmt::format("{}: an NCCL log without a line about a QP over RoCE ('NET/IB: … qpn … GID …'); NCCL writes them "
                    "with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET",
                    argument.path));
  }
  if (!is_list(*text)) return add_name_lines(*text, argument.path, names);
  return tl::unexpected(
      fmt::format("{}: a list of QPs has no addresses; say whose they are, as in --names 192.0.2.1={}", argument.path,
                  argument.path));
}

}  // namespace roce::analyze
