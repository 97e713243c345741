// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/name_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "analyze/filter/filter.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kSpaces = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || kSpaces.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  }
  return line;
}

Gid network_of(Gid address, unsigned prefix) {
  for (unsigned i = 0; i < address.octets.size(); ++i) {
    const unsigned kept = std::min(prefix - std::min(prefix, i * 8), 8U);
    address.octets[i] &= static_cast<std::uint8_t>(0xFF00U >> kept);
  }
  return address;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

tl::expected<NameFile, std::string> NameFile::parse(std::string_view text, std::string_view source) {
  NameFile names;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const auto fail = [&](const std::string& what) {
      return tl::unexpected(fmt::format("{}: line {}: {}", source, number, what));
    };
    constexpr std::size_t longest_quoted = 60;
    const std::size_t space = std::min(line.find_first_of(kSpaces), line.size());
    const std::string_view address = line.substr(0, space);
    const std::string_view name = trimmed(line.substr(space));
    const auto pattern = AddressPattern::parse(address);
    if (!pattern || pattern->is_mac()) {
      return fail(
          fmt::format("expected an IPv4 or IPv6 address such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::1, found '{}'",
                      address.substr(0, longest_quoted)));
    }
    if (name.empty()) return fail(fmt::format("expected a name behind {}, found the end of the line", address));
    if (has_control(name)) return fail(fmt::format("the name of {} holds control characters", address));
    auto& networks = names.names_[pattern->prefix()];
    const auto [place, is_new] =
        networks.try_emplace(network_of(pattern->address(), pattern->prefix()), Entry{std::string{name}, number});
    if (!is_new && place->second.name != name) {
      return fail(fmt::format("{} is named '{}' here and '{}' in line {}; remove one of the lines", address, name,
                              place->second.name, place->second.line));
    }
  }
  return names;
}

tl::expected<NameFile, std::string> NameFile::load(const std::string& path) {
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
      return tl::unexpected(
          fmt::format("'{}' is larger than 64 MiB; a file of names has a line 'ADDRESS NAME' for each address", path));
    }
  }
  if (std::ferror(file.get()) != 0) return fail(errno);
  return parse(text, path);
}

std::string_view NameFile::find(const Gid& address) const {
  for (const auto& [prefix, networks] : names_) {
    const auto found = networks.find(network_of(address, prefix));
    if (found != networks.end()) return found->second.name;
  }
  return {};
}

std::string NameFile::text(const Gid& address) const {
  const std::string_view name = find(address);
  return name.empty() ? to_string(address) : std::string{name};
}

}  // namespace roce::analyze
