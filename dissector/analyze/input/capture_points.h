// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/link/capture_record.h"

namespace roce::analyze {

/// A place at which packets were captured. Its number is `analysis::Observation::point`.
struct CapturePoint {
  std::string name;                ///< for people; no two points of a run have the same
  std::uint32_t file_set = 0;      ///< number of the file set that it belongs to
  std::string interface;           ///< `interface_key`; empty for a point that stands for all interfaces of its files
  std::uint64_t frames = 0;        ///< frames in the time window
  std::int64_t last_ns = 0;        ///< time of the last of them that has one
  std::uint64_t backwards = 0;     ///< those with an earlier time than the one before
  std::int64_t farthest_back = 0;  ///< by how much the time went back at most, in ns

  friend bool operator==(const CapturePoint&, const CapturePoint&) = default;
};

/// Files that were written one after the other at one place: a capture of one file, or the pieces of a ring buffer.
struct FileSet {
  std::string given_name;  ///< the user's name for the point (`--point`); empty if the files form a set by themselves
  std::string first_path;
  std::string last_path;
  std::optional<std::int64_t> first_ns;  ///< time of the first frame of `last_path`
  std::optional<std::int64_t> last_ns;   ///< latest time in the set

  friend bool operator==(const FileSet&, const FileSet&) = default;
};

/// Tells the capture points of an input. A point is an interface of a file set, or all files that the user gave a name.
/// Files continue a set if their names differ from it only in digits and their times do not overlap with it.
class CapturePoints {
 public:
  /// Interfaces beyond this many share the last point.
  static constexpr std::size_t kMost = 1024;

  CapturePoints() = default;
  /// Continues with the points of an earlier run.
  CapturePoints(std::vector<CapturePoint> points, std::vector<FileSet> sets);

  /// Begins the next file. `given_name` is the user's name for its point, or empty.
  void begin_file(std::string_view path, std::string_view given_name);
  /// Takes the next frame of the file; returns the number of its point. `interfaces` are those of the file so far,
  /// `interface` is the index of the frame's in them, `time_ns` is empty if the frame has no time.
  std::uint16_t take(std::span<const link::CaptureInterface> interfaces, std::uint32_t interface,
                     std::optional<std::int64_t> time_ns) {
    if (interface != latest_interface_ || !set_) [[unlikely]] {
      if (time_ns) time_ns = bounded(*time_ns);
      latest_point_ = find(interfaces, interface, time_ns);
      latest_interface_ = interface;
    }
    return latest_point_;
  }
  /// Ends the file; `last_ns` is the latest time in it, if it has any.
  void end_file(std::optional<std::int64_t> last_ns);
  /// Counts a frame of the point that is in the time window.
  void count(std::uint16_t number, std::optional<std::int64_t> time_ns) {
    CapturePoint& point = points_[number];
    if (time_ns) {
      const std::int64_t time = bounded(*time_ns);
      if (time < point.last_ns && point.frames != 0) [[unlikely]] {
        ++point.backwards;
        point.farthest_back = std::max(point.farthest_back, point.last_ns - time);
      }
      point.last_ns = time;
    }
    ++point.frames;
  }

  [[nodiscard]] const std::vector<CapturePoint>& points() const { return points_; }
  [[nodiscard]] const std::vector<FileSet>& sets() const { return sets_; }
  /// Returns a sentence if the current file begins before the end of the one before it at the same named point.
  [[nodiscard]] const std::optional<std::string>& overlap() const { return overlap_; }

 private:
  static constexpr std::uint16_t kUnknown = std::numeric_limits<std::uint16_t>::max();

  /// A damaged file may have any times; within these bounds their differences fit.
  [[nodiscard]] static std::int64_t bounded(std::int64_t time_ns) {
    constexpr std::int64_t kFarthest = std::int64_t{1} << 61U;
    return std::clamp(time_ns, -kFarthest, kFarthest);
  }

  std::uint16_t find(std::span<const link::CaptureInterface> interfaces, std::uint32_t interface,
                     std::optional<std::int64_t> time_ns);
  void choose_set(std::optional<std::int64_t> time_ns);
  [[nodiscard]] std::optional<std::uint32_t> set_that_continues(std::optional<std::int64_t> time_ns) const;
  [[nodiscard]] std::string name_for(const FileSet& set, std::string_view interface) const;

  std::vector<CapturePoint> points_;
  std::vector<FileSet> sets_;
  std::string path_;  ///< of the current file
  std::string given_name_;
  std::optional<std::uint32_t> set_;         ///< of the current file; not set before its first frame
  std::vector<std::uint16_t> of_interface_;  ///< points of the current file's interfaces
  std::uint32_t latest_interface_ = 0;       ///< of the latest frame; only with `set_`
  std::uint16_t latest_point_ = 0;
  std::optional<std::string> overlap_;
};

/// Returns what the names of the files of one set have in common: files with different texts are never of one set,
/// unless the user gave them one name.
[[nodiscard]] std::string without_numbers(std::string_view path);

/// Returns the text by which the interfaces of a file set are told apart: the interface's name, else its number in its
/// section (`#0`).
[[nodiscard]] std::string interface_key(std::span<const link::CaptureInterface> interfaces, std::uint32_t interface);

}  // namespace roce::analyze
