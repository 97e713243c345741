// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "replay/pseudonyms.h"
#include "replay/rewrite_rules.h"
#include "roce/wire/types.h"

namespace roce::replay {

/// What was changed, to be counted.
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

/// `mac`, `vlan`, …
[[nodiscard]] std::string_view to_string(Change change);

/// How many values of each kind were changed.
using ChangeCounts = std::array<std::uint64_t, static_cast<std::size_t>(Change::count)>;

/// What each value of a packet becomes by the rules. Counts what is really another value.
class Translator {
 public:
  explicit Translator(const RewriteRules& rules);

  [[nodiscard]] MacAddress mac(const MacAddress& address);
  /// None: the rules do not say what becomes of it.
  [[nodiscard]] std::optional<Gid> gid(const Gid& gid);
  /// The QPN of the host that has the address `owner` in the input.
  [[nodiscard]] Qpn qpn(Qpn qpn, const Gid& owner);
  [[nodiscard]] Psn psn(Psn psn);
  [[nodiscard]] PKey p_key(PKey key);
  [[nodiscard]] QKey q_key(QKey key);
  [[nodiscard]] RKey r_key(RKey key);
  [[nodiscard]] std::uint64_t virtual_address(std::uint64_t address);

  /// Where values are to become pseudonyms.
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
