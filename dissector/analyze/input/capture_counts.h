// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/input/decode_step.h"

namespace roce::analyze {

/// A file that was read, and how complete the reading was.
struct CaptureFile {
  std::string path;
  std::string format;
  std::uint64_t size_bytes = 0;          ///< as stored; 0: unknown
  std::uint64_t frame_base = 0;          ///< to be added to a frame's number in this file for its number overall
  std::uint64_t frames = 0;              ///< frames that were read
  std::optional<std::int64_t> first_ns;  ///< earliest time in the file; `last_ns`: latest
  std::optional<std::int64_t> last_ns;
  std::uint64_t dropped_interface = 0;  ///< according to the file's own statistics
  std::uint64_t dropped_os = 0;
  std::uint64_t dropped_between = 0;    ///< between its packets, according to their drop counts
  std::uint64_t unknown_link = 0;       ///< frames of a link type that is not decoded
  std::uint16_t unknown_link_type = 0;  ///< the link type of the last such frame
  bool is_damaged = false;              ///< it could not be opened, or not read to its end
  bool is_out_of_order = false;         ///< it begins before the end of the file before it at the same named point
  std::vector<std::string> problems;    ///< sentences for people

  [[nodiscard]] std::uint64_t dropped() const { return dropped_interface + dropped_os + dropped_between; }

  friend bool operator==(const CaptureFile&, const CaptureFile&) = default;
};

/// Totals over all files; unless noted otherwise, of the frames in the time window.
struct CaptureCounts {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;           ///< length of these frames on the wire
  std::uint64_t outside_window = 0;  ///< frames that were skipped
  std::uint64_t roce_frames = 0;     ///< frames that hold RoCE packets
  std::uint64_t roce_packets = 0;    ///< each packet of a super-frame counts
  std::uint64_t super_frames = 0;
  std::array<std::uint64_t, 4> versions{};  ///< RoCE packets by `RoceVersion`
  std::uint64_t icrc_good = 0;
  std::uint64_t icrc_bad = 0;
  std::array<std::uint64_t, 5> icrc_unchecked{};  ///< by `IcrcUnchecked`
  std::uint64_t malformed = 0;        ///< RoCE packets that were captured whole but could not be parsed to their end
  std::uint64_t cut_short = 0;        ///< frames that the snap length shortened
  std::uint64_t pause_frames = 0;     ///< PFC and PAUSE
  std::uint64_t unknown_link = 0;     ///< frames of a link type that is not decoded
  std::uint64_t without_time = 0;     ///< frames without a time: each is taken to have come with the frame before
  std::uint64_t clock_backwards = 0;  ///< frames with an earlier time than the one before
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;

  [[nodiscard]] std::uint64_t unchecked() const;
  /// Counts a frame of which `captured` bytes are present. True if it `is_judged`.
  bool count_frame(const Packet& whole, std::size_t captured);
  /// Counts one packet of a frame that `is_judged`.
  void count(const DecodedPart& part);
  /// Adds the counts of other frames.
  CaptureCounts& operator+=(const CaptureCounts& other);

  friend bool operator==(const CaptureCounts&, const CaptureCounts&) = default;
};

/// Extends the span from `first` to `last` so that it includes `time`.
inline void widen(std::optional<std::int64_t>& first, std::optional<std::int64_t>& last, std::int64_t time) {
  if (!first || time < *first) first = time;
  if (!last || time > *last) last = time;
}

}  // namespace roce::analyze
