// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>
#include "roce/wire/types.h"

namespace roce::plugin {

/// One line of the table of QPs as the user wrote it. Null counts as empty.
struct QpEntryText {
  const char* address = nullptr;   ///< IPv4 or IPv6, for RoCE v1 the GID
  const char* qpn = nullptr;       ///< decimal, or hexadecimal with `0x`; 2 … 0xfffffe
  const char* protocol = nullptr;  ///< `nvme`, `iser` or the name of a dissector
  const char* service = nullptr;   ///< TCP port 1 … 65535 or a service ID with `0x`; empty: the protocol's own
  const char* queue = nullptr;     ///< for `nvme`: 0 (admin) … 65535; empty: 1
  bool is_client = false;          ///< the QP belongs to the client: the initiator, the host
};

/// The upper protocol of a QP.
struct QpEntry {
  Gid address;  ///< IPv4-mapped for IPv4
  Qpn qpn;
  bool is_client = false;
  std::uint64_t service_id = 0;  ///< for NVMe and iSER; 0: `dissector` has a name
  std::uint16_t queue = 0;       ///< for NVMe
  std::string dissector{};
};

/// Parses a line. Error: a sentence that names the column, its content and what would be right.
[[nodiscard]] tl::expected<QpEntry, std::string> parse_qp_entry(const QpEntryText& text);

/// The lines of the table that are in use. No member throws.
class QpEntries {
 public:
  /// Adds a line that was found to be valid. If memory runs out, the line is left out.
  void add(const QpEntryText& text) noexcept;
  void clear() noexcept { entries_.clear(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Returns the entry of a QP, or null; valid until the table changes.
  [[nodiscard]] const QpEntry* find(const Gid& address, Qpn qpn) const;

 private:
  std::vector<QpEntry> entries_;
};

}  // namespace roce::plugin
