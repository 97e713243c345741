// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace roce::page {

/// The figures that a series of a pyramid keeps of the values in an interval.
enum class Measure : std::uint8_t {
  count,   ///< their sum: events
  rate,    ///< their sum, and the least and the highest sum of a window of `Pyramid::window_ns`
  sample,  ///< their number, the least and the highest
  time,    ///< the sum of nanoseconds, of spans that may overlap
  level,   ///< the least and the highest value in force: one holds until the next
};

[[nodiscard]] std::string_view to_string(Measure measure);

/// The values of one series in one interval.
struct Bucket {
  std::uint64_t sum = 0;    ///< of a level: the last value
  std::uint64_t low = 0;    ///< of a rate: the least window, 0 if any was empty; of samples and levels: the least
  std::uint64_t high = 0;   ///< of a rate: the highest window; of samples and levels: the highest
  std::uint64_t count = 0;  ///< of a rate: windows that are not empty; otherwise: values

  friend bool operator==(const Bucket&, const Bucket&) = default;
};

/// Several series over one time axis, from far to near. Memory does not depend on the capture: there are at most
/// `kMost` intervals of equal length; if a time does not fit, neighbours are joined. Joining keeps the highest and the
/// least value, so that a single event or a short peak is as visible from afar as from near.
class Pyramid {
 public:
  static constexpr std::size_t kMost = 1U << 14U;
  static constexpr std::size_t kFactor = 4;    ///< a level has so many times fewer intervals than the one below
  static constexpr std::size_t kFewest = 256;  ///< a level with fewer intervals has none above it
  static constexpr std::uint64_t kWindow = 1U
                                           << 20U;  ///< a rate is never taken over less than this much of a long time
  static constexpr std::uint64_t kFinest = 1U << 10U;

  struct Level {
    std::uint64_t width_ns = 0;
    std::size_t size = 0;                     ///< intervals
    std::vector<std::vector<Bucket>> series;  ///< empty where nothing was added; otherwise one bucket for each interval
  };

  explicit Pyramid(std::vector<Measure> measures);

  /// Adds a value. Times may come in any order; those of a rate mostly in theirs, as a window is closed when the next
  /// one begins, and those of a level in theirs.
  void add(std::size_t series, std::int64_t time_ns, std::uint64_t value);
  /// Adds the nanoseconds from `begin_ns` up to `end_ns` to a rate or a time, each where it is.
  void add_span(std::size_t series, std::int64_t begin_ns, std::int64_t end_ns);
  /// Makes the axis reach to a time, at which nothing is added.
  void reach(std::int64_t time_ns);

  /// Returns all levels, the finest first.
  [[nodiscard]] std::vector<Level> levels();
  [[nodiscard]] std::uint64_t total(std::size_t series) const;
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }
  [[nodiscard]] std::uint64_t width_ns() const { return std::uint64_t{1} << shift_; }
  /// Returns the length over which rates are taken.
  [[nodiscard]] std::uint64_t window_ns() const { return width_ns() < kWindow ? width_ns() : kWindow; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  /// The window of a rate to which values are still added.
  struct OpenWindow {
    std::uint64_t number = 0;
    std::uint64_t sum = 0;
  };
  struct Series {
    Measure measure{};
    std::uint64_t total = 0;
    OpenWindow open;
    std::vector<Bucket> buckets;  ///< up to the last one that anything was added to
  };

  // Most times are in an interval that there is.
  [[nodiscard]] std::size_t place(std::int64_t time_ns) {
    const std::uint64_t offset = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(start_ns_);
    const std::uint64_t at = offset >> shift_;
    return at < size_ ? static_cast<std::size_t>(at) : make_place(time_ns);
  }
  [[nodiscard]] std::size_t make_place(std::int64_t time_ns);
  static Bucket& bucket_at(Series& series, std::size_t at) {
    if (at >= series.buckets.size()) series.buckets.resize(at + 1);
    return series.buckets[at];
  }
  void add_time(Series& series, std::uint64_t from, std::uint64_t to) const;
  void extend_before(std::int64_t time_ns);
  void join_pairs();
  void close(Series& series) const;
  void fill(std::vector<Bucket>& buckets) const;
  void add_window(Bucket& bucket, std::uint64_t sum, std::uint64_t windows) const;
  [[nodiscard]] std::vector<Bucket> finest(const Series& series) const;

  std::vector<Series> series_;
  unsigned shift_ = std::countr_zero(kFinest);  ///< the length of an interval is a power of two
  std::size_t size_ = 0;
  std::int64_t start_ns_ = 0;  ///< with `size_` 0: unknown yet
};

/// Joins each `factor` neighbours of a series.
[[nodiscard]] std::vector<Bucket> join_buckets(const std::vector<Bucket>& buckets, Measure measure, std::size_t factor);

}  // namespace roce::page
