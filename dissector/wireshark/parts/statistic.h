// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "wireshark/parts/tapped_packet.h"
#include "wireshark/parts/text_rows.h"

namespace roce::plugin {

/// A statistic in the form of a table of texts, updated with every packet. Members may throw `std::bad_alloc`.
class Statistic {
 public:
  explicit Statistic(std::span<const TextColumn> columns) : rows_(columns) {}
  Statistic(const Statistic&) = delete;
  Statistic& operator=(const Statistic&) = delete;
  virtual ~Statistic() = default;

  [[nodiscard]] const TextRows& rows() const { return rows_; }

  virtual void count(const TappedPacket& packet) = 0;
  /// Forgets all packets.
  virtual void clear() { rows_.clear(); }

 protected:
  TextRows rows_;
};

}  // namespace roce::plugin
