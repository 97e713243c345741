// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/decode_step.h"

namespace roce::analyze {

/// A file that was read, and how complete it is.
struct CaptureFile {
  std::string path;
  std::string format;
  std::uint64_t size_bytes = 0;          ///< as stored; 0 unknown
  std::uint64_t frame_base = 0;          ///< what to add to the number of a frame in this file for its number overall
  std::uint64_t frames = 0;              ///< that were read
  std::optional<std::int64_t> first_ns;  ///< earliest and latest time in the file
  std::optional<std::int64_t> last_ns;
  std::uint64_t dropped_interface = 0;  ///< by the file's own statistics
  std::uint64_t dropped_os = 0;
  std::uint64_t dropped_between = 0;    ///< between its packets, by their drop counts
  std::uint64_t unknown_link = 0;       ///< frames of a link type that is not decoded
  std::uint16_t unknown_link_type = 0;  ///< of the last of them
  bool is_damaged = false;              ///< it could not be opened, or not be read to its end
  std::vector<std::string> problems;    ///< what is wrong with it, sentences for people

  [[nodiscard]] std::uint64_t dropped() const { return dropped_interface + dropped_os + dropped_between; }

  friend bool operator==(const CaptureFile&, const CaptureFile&) = default;
};

/// How often what was in the files; of the frames in the time window.
struct CaptureCounts {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;           ///< of these frames on the wire
  std::uint64_t outside_window = 0;  ///< frames that were passed over
  std::uint64_t roce_frames = 0;     ///< frames that hold RoCE packets
  std::uint64_t roce_packets = 0;    ///< of a super-frame each packet counts
  std::uint64_t super_frames = 0;
  std::array<std::uint64_t, 4> versions{};  ///< RoCE packets by `RoceVersion`
  std::uint64_t icrc_good = 0;
  std::uint64_t icrc_bad = 0;
  std::array<std::uint64_t, 5> icrc_unchecked{};  ///< by `IcrcUnchecked`
  std::uint64_t malformed = 0;        ///< RoCE packets that could not be parsed to their end, though captured whole
  std::uint64_t cut_short = 0;        ///< frames that the snap length cut
  std::uint64_t pause_frames = 0;     ///< PFC and PAUSE
  std::uint64_t unknown_link = 0;     ///< frames of a link type that is not decoded
  std::uint64_t without_time = 0;     ///< they count as having come with the frame before
  std::uint64_t clock_backwards = 0;  ///< frames with an earlier time than the one before
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;

  [[nodiscard]] std::uint64_t unchecked() const;
  /// Counts a frame of which `captured` bytes are there. Whether it `is_judged`.
  bool count_frame(const Packet& whole, std::size_t captured);
  /// Counts a packet of a frame that `is_judged`.
  void count(const DecodedPart& part);
  /// Adds what was counted of other frames.
  CaptureCounts& operator+=(const CaptureCounts& other);

  friend bool operator==(const CaptureCounts&, const CaptureCounts&) = default;
};

/// Makes the span from `first` to `last` hold `time`.
void widen(std::optional<std::int64_t>& first, std::optional<std::int64_t>& last, std::int64_t time);

}  // namespace roce::analyze
