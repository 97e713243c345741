// SPDX-License-Identifier: BSD-2-Clause
// Series over time in bounded memory, whose extremes survive.
#include "page/pyramid.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roce::page {

namespace {

// Wraps instead of overflowing: times may be as far apart as 64 bits allow.
std::uint64_t since(std::int64_t earlier, std::int64_t later) {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

// An empty interval has no least sample, but a window of a rate without anything is the least that there can be.
void join(Bucket& into, const Bucket& other, Measure measure) {
  if (measure == Measure::level) {
    if (other.count == 0) return;
    into.low = into.count == 0 ? other.low : std::min(into.low, other.low);
    into.high = std::max(into.high, other.high);
    into.sum = other.sum;
    into.count += other.count;
    return;
  }
  if (measure == Measure::rate) {
    into.low = std::min(into.low, other.low);
  } else if (other.count != 0) {
    into.low = into.count == 0 ? other.low : std::min(into.low, other.low);
  }
  into.high = std::max(into.high, other.high);
  into.sum += other.sum;
  into.count += other.count;
}

// A value is in force until the next, in intervals without one, too.
void hold(std::vector<Bucket>& buckets) {
  std::uint64_t last = 0;
  for (Bucket& bucket : buckets) {
    if (bucket.count == 0) bucket = {last, last, last, 0};
    bucket.low = std::min(bucket.low, last);
    bucket.high = std::max(bucket.high, last);
    last = bucket.sum;
    bucket.count = 1;
  }
}

}  // namespace

std::string_view to_string(Measure measure) {
  constexpr std::array<std::string_view, 5> kNames{"count", "rate", "sample", "time", "level"};
  return kNames[static_cast<std::size_t>(measure)];
}

std::vector<Bucket> join_buckets(const std::vector<Bucket>& buckets, Measure measure, std::size_t factor) {
  std::vector<Bucket> joined;
  joined.reserve(buckets.size() / factor + 1);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (i % factor == 0) {
      joined.push_back(buckets[i]);
    } else {
      join(joined.back(), buckets[i], measure);
    }
  }
  return joined;
}

Pyramid::Pyramid(std::vector<Measure> measures) {
  series_.resize(measures.size());
  for (std::size_t i = 0; i < measures.size(); ++i) series_[i].measure = measures[i];
}

void Pyramid::add(std::size_t series, std::int64_t time_ns, std::uint64_t value) {
  const std::size_t at = place(time_ns);
  Series& to = series_[series];
  Bucket& bucket = bucket_at(to, at);
  if (to.measure == Measure::level) {
    to.total = std::max(to.total, value);
    return join(bucket, {value, value, value, 1}, Measure::level);
  }
  to.total += value;
  bucket.sum += value;
  if (to.measure != Measure::rate) {
    bucket.low = bucket.count == 0 ? value : std::min(bucket.low, value);
    bucket.high = std::max(bucket.high, value);
    ++bucket.count;
  } else if (width_ns() > kWindow) {
    const std::uint64_t window = since(start_ns_, time_ns) / kWindow;
    if (window != to.open.number) {
      close(to);
      to.open.number = window;
    }
    to.open.sum += value;
  }
}

void Pyramid::add_span(std::size_t series, std::int64_t begin_ns, std::int64_t end_ns) {
  if (begin_ns >= end_ns) return;
  static_cast<void>(place(begin_ns));
  static_cast<void>(place(end_ns - 1));
  std::uint64_t from = since(start_ns_, begin_ns);
  const std::uint64_t to = since(start_ns_, end_ns);
  Series& spans = series_[series];
  spans.total += to - from;
  if (spans.measure == Measure::time) return add_time(spans, from, to);
  close(spans);
  while (from < to) {
    Bucket& bucket = bucket_at(spans, static_cast<std::size_t>(from >> shift_));
    const std::uint64_t end = std::min(to, ((from >> shift_) + 1) << shift_);
    bucket.sum += end - from;
    while (width_ns() > kWindow && from < end) {
      const std::uint64_t window_end = (from / kWindow + 1) * kWindow;
      const bool is_whole = from % kWindow == 0 && window_end <= end;
      const std::uint64_t upto = is_whole ? end - end % kWindow : std::min(window_end, end);
      add_window(bucket, is_whole ? kWindow : upto - from, is_whole ? (upto - from) / kWindow : 1);
      from = upto;
    }
    from = end;
  }
}

// A span costs the same however long it is: of the intervals that it fills only the first has a mark, and the one after
// the last. `count` is the number of spans that begin to fill there, less those that have ended.
void Pyramid::add_time(Series& series, std::uint64_t from, std::uint64_t to) const {
  const auto first = static_cast<std::size_t>(from >> shift_);
  const auto last = static_cast<std::size_t>((to - 1) >> shift_);
  bucket_at(series, last);
  if (first == last) {
    series.buckets[first].sum += to - from;
    return;
  }
  series.buckets[first].sum += (first + 1) * width_ns() - from;
  series.buckets[last].sum += to - last * width_ns();
  ++series.buckets[first + 1].count;
  --series.buckets[last].count;
}

// Adds what the marks of `add_time` stand for.
void Pyramid::fill(std::vector<Bucket>& buckets) const {
  std::uint64_t filling = 0;
  for (Bucket& bucket : buckets) {
    filling += std::exchange(bucket.count, 0);
    bucket.sum += filling * width_ns();
  }
}

void Pyramid::reach(std::int64_t time_ns) {
  static_cast<void>(place(time_ns));
}

std::uint64_t Pyramid::total(std::size_t series) const {
  return series_[series].total;
}

// Returns the index of the interval that holds a time; makes the axis reach it.
std::size_t Pyramid::make_place(std::int64_t time_ns) {
  if (size_ == 0) start_ns_ = time_ns;
  if (time_ns < start_ns_) extend_before(time_ns);
  const std::uint64_t offset = since(start_ns_, time_ns);
  while (offset >> shift_ >= kMost) join_pairs();
  const auto at = static_cast<std::size_t>(offset >> shift_);
  size_ = std::max(size_, at + 1);
  return at;
}

void Pyramid::extend_before(std::int64_t time_ns) {
  const auto missing = [&] { return (since(time_ns, start_ns_) + width_ns() - 1) / width_ns(); };
  while (missing() + size_ > kMost) join_pairs();
  const auto count = static_cast<std::size_t>(missing());
  for (Series& each : series_) {
    close(each);
    each.open = {};
    if (each.buckets.empty()) continue;
    each.buckets.insert(each.buckets.begin(), count, Bucket{});
  }
  size_ += count;
  start_ns_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(start_ns_) - count * width_ns());
}

void Pyramid::join_pairs() {
  for (Series& each : series_) {
    if (each.measure == Measure::rate && width_ns() == kWindow) {
      // So far each interval was one window.
      for (Bucket& bucket : each.buckets) {
        bucket.low = bucket.high = bucket.sum;
        bucket.count = bucket.sum != 0 ? 1 : 0;
      }
    }
    if (each.measure == Measure::time) fill(each.buckets);
    close(each);
    // Only the windows that are not empty have been added up: whether one was is known from their number.
    each.buckets = join_buckets(each.buckets, each.measure == Measure::rate ? Measure::sample : each.measure, 2);
  }
  size_ = (size_ + 1) / 2;
  ++shift_;
}

void Pyramid::close(Series& series) const {
  if (series.open.sum == 0) return;
  const std::uint64_t at = series.open.number * kWindow / width_ns();
  if (at < series.buckets.size()) add_window(series.buckets[static_cast<std::size_t>(at)], series.open.sum, 1);
  series.open.sum = 0;
}

void Pyramid::add_window(Bucket& bucket, std::uint64_t sum, std::uint64_t windows) const {
  if (windows == 0) return;
  bucket.low = bucket.count == 0 ? sum : std::min(bucket.low, sum);
  bucket.high = std::max(bucket.high, sum);
  bucket.count = std::min(bucket.count + windows, width_ns() / kWindow);
}

std::vector<Bucket> Pyramid::finest(const Series& series) const {
  std::vector<Bucket> buckets = series.buckets;
  if (buckets.empty()) return buckets;
  buckets.resize(size_);
  if (series.measure == Measure::time) fill(buckets);
  if (series.measure == Measure::level) hold(buckets);
  if (series.measure != Measure::rate) return buckets;
  for (Bucket& bucket : buckets) {
    if (width_ns() <= kWindow) {
      bucket.low = bucket.high = bucket.sum;
    } else if (bucket.count < width_ns() / kWindow) {
      bucket.low = 0;
    }
  }
  return buckets;
}

std::vector<Pyramid::Level> Pyramid::levels() {
  std::vector<Level> all(1);
  all.front().width_ns = width_ns();
  all.front().size = size_;
  for (Series& each : series_) {
    close(each);
    all.front().series.push_back(finest(each));
  }
  while (all.back().size > kFewest * kFactor) {
    Level next;
    next.size = (all.back().size + kFactor - 1) / kFactor;
    next.width_ns = all.back().width_ns * kFactor;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      next.series.push_back(join_buckets(all.back().series[i], series_[i].measure, kFactor));
    }
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace roce::page
