// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "roce/analysis/nvme.h"
#include "roce/wire/opcode.h"

namespace roce::analysis {

/// The room and the results that all queues of a survey share.
struct NvmeRoom {
  std::size_t left = 0;  ///< commands and messages for which there is still room
  std::vector<NvmeExchange> done{};
  std::uint64_t uncounted = 0;
};

/// The messages of one requester that belong to commands, found by their PSNs.
class NvmeSpans {
 public:
  struct Span {
    std::int64_t first = 0;  ///< relative PSN
    std::int64_t next = 0;   ///< behind the last one that was seen
    std::uint64_t command = 0;
    Operation operation{};
    bool is_whole = false;  ///< its last packet was seen: it ends before `next`
  };

  /// Returns the message that begins with a PSN; null if none is known.
  [[nodiscard]] const Span* starting_at(std::int64_t psn) const;
  /// Returns the message of an operation that a PSN which does not begin one belongs to; null if none is known.
  [[nodiscard]] Span* holding(std::int64_t psn, Operation operation);
  /// Adds a message; the oldest ones give way if there are too many.
  void add(const Span& span, NvmeRoom& room);
  /// Removes the oldest messages as long as `is_over` says so of their commands.
  template <typename IsOver>
  void drop_front(NvmeRoom& room, IsOver is_over) {
    while (!spans_.empty() && is_over(spans_.front().command)) (void)give_way(room);
  }
  /// Removes the oldest message. Returns false if there is none.
  bool give_way(NvmeRoom& room);

 private:
  static constexpr std::size_t kMost = 16'384;

  std::deque<Span> spans_;  ///< by the first PSN
};

}  // namespace roce::analysis
