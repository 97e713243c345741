// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "replay/rewrite/pseudonyms.h"
#include "replay/rules/rewrite_rules.h"
#include "roce/wire/types.h"

namespace roce::replay {

/// The kinds of values that are changed, for counting.
enum class Change : std::uint8_t {
  mac,
  vlan,
  address,
  version,
  network_field,
  udp_port,
  qpn,
  psn,
  key,
  va,
  field,
  data,
  count
};

/// Returns the name of the enumerator: `mac`, `vlan`, …
[[nodiscard]] std::string_view to_string(Change change);

/// Numbers of changed values, by kind.
using ChangeCounts = std::array<std::uint64_t, static_cast<std::size_t>(Change::count)>;

/// Translates the values of a packet by the rules. Counts those that really become another value.
class Translator {
 public:
  explicit Translator(const RewriteRules& rules);

  [[nodiscard]] MacAddress mac(const MacAddress& address);
  /// Returns none if the rules leave the address open.
  [[nodiscard]] std::optional<Gid> gid(const Gid& gid);
  /// Translates a QPN of the host that has the address `owner` in the input.
  [[nodiscard]] Qpn qpn(Qpn qpn, const Gid& owner);
  [[nodiscard]] Psn psn(Psn psn);
  [[nodiscard]] PKey p_key(PKey key);
  [[nodiscard]] QKey q_key(QKey key);
  [[nodiscard]] RKey r_key(RKey key);
  [[nodiscard]] std::uint64_t virtual_address(std::uint64_t address);

  /// Returns null unless values are to become pseudonyms.
  [[nodiscard]] Pseudonyms* pseudonyms() { return pseudonyms_ ? &*pseudonyms_ : nullptr; }
  void count(Change change) { ++changes_[static_cast<std::size_t>(change)]; }
  [[nodiscard]] const ChangeCounts& changes() const { return changes_; }

 private:
  template <typename T>
  [[nodiscard]] T counted(Change change, const T& before, const T& after) {
    if (!(before == after)) count(change);
    return after;
  }

  const RewriteRules* rules_;
  std::optional<Pseudonyms> pseudonyms_;
  ChangeCounts changes_{};
};

}  // namespace roce::replay
