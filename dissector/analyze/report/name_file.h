// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/wire/types.h"

namespace roce::analyze {

/// Names for addresses, from a file that the user writes:
///
///     # hosts of rack 3
///     192.0.2.17        node17 rank 4
///     2001:db8::/32     storage
///
/// A line consists of an address (IPv4, IPv6 or GID, with or without a prefix length) and a name, the rest of the line;
/// `#` at the start of a line or after a space begins a comment. Lookup time is logarithmic in the number of names.
class NameFile {
 public:
  /// Constructs an object without names.
  NameFile() = default;

  /// Error: the file and why it cannot be read, or the line and its problem.
  [[nodiscard]] static tl::expected<NameFile, std::string> load(const std::string& path);
  /// Parses the text of such a file; `source` is its name in errors.
  [[nodiscard]] static tl::expected<NameFile, std::string> parse(std::string_view text, std::string_view source);

  /// Returns the name with the longest prefix that contains the address; empty if there is none. It is valid as long as
  /// the object.
  [[nodiscard]] std::string_view find(const Gid& address) const;
  /// Returns the name, or else the address as text.
  [[nodiscard]] std::string text(const Gid& address) const;
  [[nodiscard]] bool empty() const { return names_.empty(); }

 private:
  struct Entry {
    std::string name;
    std::size_t line = 0;
  };

  /// By prefix length, the longest first, then by network.
  std::map<unsigned, std::map<Gid, Entry>, std::greater<>> names_;
};

}  // namespace roce::analyze
