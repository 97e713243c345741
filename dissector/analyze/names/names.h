// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roce/wire/types.h"

namespace roce::analyze {

/// One end of a connection, as far as it is known.
struct QpEnd {
  Gid address{};
  std::optional<Qpn> qpn{};
};

/// A name that a user gave, and where.
struct GivenName {
  std::string text;
  std::string source;    ///< the name of the file
  std::size_t line = 0;  ///< from 1
};

/// All that logs suggest for one thing.
struct SuggestedName {
  std::vector<std::string> names;  ///< the different ones as they came, at most three
  std::string text;                ///< `A`, `A or B`, `A or B or others`
};

/// Names for hosts and QPs. What a user gives is unique; what logs suggest counts where nothing is given, and what they
/// suggest in two ways reads `A or B`. Lookups take logarithmic time in the number of names.
class Names {
 public:
  /// Names the addresses of a network of `prefix` bits, at most 128. Returns another name that it has, valid until the
  /// next one is added; nullptr if there is none, or the same.
  [[nodiscard]] const GivenName* give(const Gid& network, unsigned prefix, GivenName name);
  /// Names a QP of an address; returns the same.
  [[nodiscard]] const GivenName* give(const Gid& address, Qpn qpn, GivenName name);
  /// Names an address, or a QP of one, where the user does not; a second name counts beside the first.
  void suggest(const Gid& address, std::string_view name);
  void suggest(const Gid& address, Qpn qpn, std::string_view name);

  /// Returns the name of an address, of the longest prefix that contains it; empty if there is none. It is valid until
  /// the next name is added.
  [[nodiscard]] std::string_view find(const Gid& address) const;
  /// Returns the name of a QP; empty if it has none, or its number is unknown. It is valid until the next name is
  /// added.
  [[nodiscard]] std::string_view find(const QpEnd& end) const;
  /// Returns the name of an address, or else the address as text.
  [[nodiscard]] std::string text(const Gid& address) const;
  /// Returns that, and the name of the QP behind it if there is one: `node17 rank 4`.
  [[nodiscard]] std::string text(const QpEnd& end) const;
  /// True if nothing has a name.
  [[nodiscard]] bool empty() const;

 private:
  using Qp = std::pair<Gid, Qpn>;
  /// By prefix length, the longest first, then by network.
  std::map<unsigned, std::map<Gid, GivenName>, std::greater<>> networks_;
  std::map<Qp, GivenName> qps_;
  std::map<Gid, SuggestedName> suggested_addresses_;
  std::map<Qp, SuggestedName> suggested_qps_;
};

}  // namespace roce::analyze
