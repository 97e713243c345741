// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/wire/types.h"

namespace roce::analyze {

/// Names for addresses, as a user gives them in a file:
///
///     # hosts of rack 3
///     192.0.2.17        node17 rank 4
///     2001:db8::/32     storage
///
/// A line is an address (IPv4, IPv6 or GID, with or without a prefix length) and a name, which is the rest of the line;
/// `#` at the start of a line or behind a space begins a comment. Looking up is logarithmic in the number of names.
class NameFile {
 public:
  /// No names.
  NameFile() = default;

  /// Error: the file and why it cannot be read, or what is wrong in which line.
  [[nodiscard]] static tl::expected<NameFile, std::string> load(const std::string& path);
  /// The same for text; `source` names it in errors.
  [[nodiscard]] static tl::expected<NameFile, std::string> parse(std::string_view text, std::string_view source);

  /// The name with the longest prefix that the address lies in; empty when there is none. It lives as long as the
  /// object.
  [[nodiscard]] std::string_view find(const Gid& address) const;
  /// The name, or the address as text.
  [[nodiscard]] std::string text(const Gid& address) const;
  [[nodiscard]] bool empty() const { return names_.empty(); }

 private:
  struct Entry {
    std::string name;
    std::size_t line = 0;
  };

  /// By prefix length, the longest first, and network.
  std::map<unsigned, std::map<Gid, Entry>, std::greater<>> names_;
};

}  // namespace roce::analyze
