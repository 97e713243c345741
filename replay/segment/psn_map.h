// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "roce/wire/types.h"

namespace roce::replay {

/// A PSN that does not wrap. The first one of a connection is arbitrary.
using LongPsn = std::int64_t;

/// Turns PSNs that follow one another, with repetitions and losses, into ones that do not wrap.
class PsnCounter {
 public:
  /// Returns the PSN as it is nearest to the newest one; the first one that is passed becomes the newest.
  [[nodiscard]] LongPsn unwrap(Psn psn);
  /// Notes that the packet with this PSN was seen.
  void note(LongPsn psn) { newest_ = psn > newest_ ? psn : newest_; }
  [[nodiscard]] bool has_begun() const { return has_begun_; }

 private:
  LongPsn newest_ = 0;
  bool has_begun_ = false;
};

/// Maps the PSNs of one requester to those that they become when its messages are cut into packets of another size.
/// Messages that take as many PSNs as before need not be added: they move with those before them.
class PsnMap {
 public:
  /// Path MTUs before and after, in bytes; one divides the other.
  PsnMap(std::uint32_t old_mtu, std::uint32_t new_mtu) : old_mtu_(old_mtu), new_mtu_(new_mtu) {}

  /// Adds the message (or READ, with the packets of its answer) whose first PSN is `first`, after all that were added
  /// before. It takes `new_count` PSNs instead of `old_count`; both are at least 1.
  void add(LongPsn first, std::uint32_t old_count, std::uint32_t new_count);

  /// The new place of one PSN.
  struct Place {
    LongPsn first = 0;          ///< new PSN of its first byte
    LongPsn last = 0;           ///< new PSN of its last byte
    std::uint32_t skipped = 0;  ///< old PSNs before it in the packet `first`; more than 0 only after joining
    std::uint32_t parts = 1;    ///< old PSNs that became the packet `first`
    std::uint32_t packet = 0;   ///< index of the packet `first` in its message
    bool is_joined = false;     ///< several old PSNs may have become one packet
    [[nodiscard]] bool ends_packet() const { return skipped + 1 == parts; }
  };
  [[nodiscard]] Place find(LongPsn psn) const;

  [[nodiscard]] bool is_identity() const { return messages_.empty(); }
  [[nodiscard]] std::uint32_t old_mtu() const { return old_mtu_; }
  [[nodiscard]] std::uint32_t new_mtu() const { return new_mtu_; }
  [[nodiscard]] bool joins() const { return new_mtu_ > old_mtu_; }

 private:
  struct Renumbered {
    LongPsn old_first = 0;
    LongPsn new_first = 0;
    std::uint32_t old_count = 1;
    std::uint32_t new_count = 1;
  };

  std::uint32_t old_mtu_;
  std::uint32_t new_mtu_;
  std::vector<Renumbered> messages_;  ///< ordered by PSN
};

}  // namespace roce::replay
