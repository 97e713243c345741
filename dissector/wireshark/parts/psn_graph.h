// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roce/wire/time.h"
#include "wireshark/parts/tapped_packet.h"

namespace roce::plugin {

/// `-z roce,psn`: the data of a graph of PSNs over time, as tcptrace draws sequence numbers: what each requester sent,
/// and what came back. Members may throw `std::bad_alloc`.
class PsnGraph {
 public:
  void count(const TappedPacket& packet);
  void clear() { points_.clear(); }

  /// Returns the line of headings, with its end.
  [[nodiscard]] static std::string_view heading();
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  /// Returns a line with its end. Columns, with tabs between them: seconds since the first packet, stream, direction of
  /// the requester, kind of point, relative PSN, the PSN after the last one, frame.
  [[nodiscard]] std::string line(std::size_t index) const;

 private:
  struct Point {
    Time time{};
    std::uint32_t stream = 0;
    std::uint8_t direction = 0;
    std::string_view kind{};
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::uint64_t frame = 0;
  };

  std::optional<Time> begin_;
  std::vector<Point> points_;
};

}  // namespace roce::plugin
