// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/ranks/gathered_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "analyze/run/carried_state.h"
#include "analyze/run/kept_streams.h"
#include "roce/analysis/pause.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

namespace {

using analysis::StreamSummary;
using analysis::Verdict;

class Packer {
 public:
  void add(std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    all_.append(reinterpret_cast<const char*>(&size), sizeof(size));
    all_.append(bytes);
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  [[nodiscard]] std::string take() { return std::move(all_); }

 private:
  std::string all_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : rest_(packed) {}

  std::string_view bytes() {
    std::uint64_t size = 0;
    if (rest_.size() < sizeof(size)) fail();
    std::memcpy(&size, rest_.data(), sizeof(size));
    rest_.remove_prefix(sizeof(size));
    if (rest_.size() < size) fail();
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  template <typename T>
  std::vector<T> values() {
    const std::string_view part = bytes();
    if (part.size() % sizeof(T) != 0) fail();
    std::vector<T> values(part.size() / sizeof(T));
    if (!part.empty()) std::memcpy(values.data(), part.data(), part.size());
    return values;
  }

 private:
  [[noreturn]] static void fail() { throw std::runtime_error("a rank sent something that is not what it found out"); }

  std::string_view rest_;
};

/// Gives the streams of all ranks the numbers that one process gives them: by the packets that began them.
std::vector<std::vector<std::uint32_t>> number_streams(const std::vector<GatheredShare>& shares) {
  struct Begin {
    analysis::PacketId packet;
    std::size_t rank;
  };
  std::vector<Begin> begins;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    for (const analysis::PacketId packet : shares[rank].result.begins) begins.push_back({packet, rank});
  }
  std::stable_sort(begins.begin(), begins.end(), [](const Begin& a, const Begin& b) { return a.packet < b.packet; });
  std::vector<std::vector<std::uint32_t>> numbers(shares.size());
  for (std::uint32_t i = 0; i < begins.size(); ++i) numbers[begins[i].rank].push_back(i);
  return numbers;
}

void renumber(GatheredShare& share, const std::vector<std::uint32_t>& numbers) {
  for (StreamSummary& stream : share.result.streams) stream.stream = numbers.at(stream.stream);
  for (StreamSummary& stream : share.known_ends) stream.stream = numbers.at(stream.stream);
  for (Verdict& verdict : share.verdicts) {
    if (verdict.stream != analysis::kNoStream) verdict.stream = numbers.at(verdict.stream);
  }
  std::map<std::uint32_t, LossPlaces> losses;
  for (const auto& [stream, lost] : share.result.verdicts.losses_of_stream) {
    losses[stream == analysis::kNoStream ? stream : numbers.at(stream)] += lost;
  }
  share.result.verdicts.losses_of_stream = std::move(losses);
}

/// Adds what another rank counted.
void add_counts(AnalysisResult& all, AnalysisResult& more) {
  // Every rank counts these, of all frames.
  more.counts.outside_window = more.counts.without_time = more.counts.clock_backwards = 0;
  more.counts.first_ns.reset();
  more.counts.last_ns.reset();
  all.counts += more.counts;
  all.verdicts += more.verdicts;
  all.point_verdicts.resize(std::max(all.point_verdicts.size(), more.point_verdicts.size()));
  for (std::size_t i = 0; i < more.point_verdicts.size(); ++i) all.point_verdicts[i] += more.point_verdicts[i];
  all.evictions.streams += more.evictions.streams;
  all.evictions.requests += more.evictions.requests;
  all.streams_unlisted += more.streams_unlisted;
  all.streams_begun += more.streams_begun;
}

/// Adds the elements of `more` whose keys `all` does not have, by key.
template <typename T, typename Key>
void add_new(std::vector<T>& all, const std::vector<T>& more, Key key) {
  all.insert(all.end(), more.begin(), more.end());
  std::stable_sort(all.begin(), all.end(), [&](const T& a, const T& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(), [&](const T& a, const T& b) { return key(a) == key(b); }), all.end());
}

/// Adds what concerns a capture point, of which every rank that followed packets of it knows the same.
void add_points(AnalysisResult& all, const AnalysisResult& more) {
  add_new(all.pauses, more.pauses, [](const auto& each) { return std::pair{each.point, each.source}; });
  add_new(all.neighbours, more.neighbours, [](const auto& each) { return std::pair{each.point, each.address}; });
  add_new(all.undelivered, more.undelivered, [](const auto& each) {
    return std::tuple{each.point, each.source, each.destination, each.why};
  });
  all.uncounted_pause_frames = std::max(all.uncounted_pause_frames, more.uncounted_pause_frames);
  all.uncounted_notices += more.uncounted_notices;
}

/// Takes over what only the rank knows that had all frames of a file.
void add_files(AnalysisResult& all, const AnalysisResult& more) {
  for (std::size_t i = 0; i < all.files.size() && i < more.files.size(); ++i) {
    const CaptureFile& other = more.files[i];
    CaptureFile& file = all.files[i];
    if (other.unknown_link == 0 || file.unknown_link != 0) continue;
    file.unknown_link = other.unknown_link;
    file.unknown_link_type = other.unknown_link_type;
    // The last one says so.
    if (!other.problems.empty()) file.problems.push_back(other.problems.back());
  }
}

/// Marks the files of which another rank read something else.
void compare_files(AnalysisResult& all, const AnalysisResult& other, std::size_t rank) {
  for (std::size_t i = 0; i < all.files.size() && i < other.files.size(); ++i) {
    CaptureFile& file = all.files[i];
    if (other.files[i].frames == file.frames) continue;
    file.is_damaged = true;
    file.problems.push_back(fmt::format("rank {} read {} frames, and rank 0 {}: verdicts may be wrong", rank,
                                        other.files[i].frames, file.frames));
  }
}

void check_once(const AnalysisResult& all) {
  std::uint64_t read = 0;
  for (const CapturePoint& point : all.points) read += point.frames;
  if (read == all.counts.frames || !all.is_complete()) return;
  throw std::runtime_error(
      fmt::format("of {} frames, ranks followed {}: each should be followed by one rank", read, all.counts.frames));
}

}  // namespace

std::string GatheredShare::pack() const {
  CarriedState state;
  state.files = result.files;
  state.counts = result.counts;
  state.verdicts = result.verdicts;
  state.point_verdicts = result.point_verdicts;
  state.closed = result.streams;
  state.trackers = analysis::TrackerShards{}.save();
  state.pauses = analysis::PauseTracker{}.save();
  Packer packer;
  packer.add(state.saved());
  packer.add(std::vector<std::uint64_t>{result.evictions.streams, result.evictions.requests, result.streams_unlisted,
                                        result.streams_begun});
  packer.add(std::vector<std::uint64_t>{result.uncounted_pause_frames, result.uncounted_notices});
  packer.add(result.pauses);
  packer.add(result.neighbours);
  packer.add(result.undelivered);
  packer.add(result.begins);
  packer.add(verdicts);
  const std::vector<std::byte> ends = analysis::save_streams(known_ends);
  packer.add({reinterpret_cast<const char*>(ends.data()), ends.size()});
  return packer.take();
}

GatheredShare GatheredShare::unpack(std::string_view packed) {
  Unpacker unpacker{packed};
  auto state = CarriedState::parse(unpacker.bytes());
  if (!state) throw std::runtime_error(fmt::format("what a rank sent {}", state.error()));
  GatheredShare share;
  AnalysisResult& result = share.result;
  result.files = std::move(state->files);
  result.counts = state->counts;
  result.verdicts = std::move(state->verdicts);
  result.point_verdicts = std::move(state->point_verdicts);
  result.streams = std::move(state->closed);
  const auto counts = unpacker.values<std::uint64_t>();
  result.evictions = {counts.at(0), counts.at(1)};
  result.streams_unlisted = counts.at(2);
  result.streams_begun = static_cast<std::uint32_t>(counts.at(3));
  const auto uncounted = unpacker.values<std::uint64_t>();
  result.uncounted_pause_frames = uncounted.at(0);
  result.uncounted_notices = uncounted.at(1);
  result.pauses = unpacker.values<analysis::PauseSummary>();
  result.neighbours = unpacker.values<analysis::NeighbourSummary>();
  result.undelivered = unpacker.values<analysis::IcmpErrorSummary>();
  result.begins = unpacker.values<analysis::PacketId>();
  share.verdicts = unpacker.values<Verdict>();
  const std::string_view ends = unpacker.bytes();
  auto known = analysis::restore_streams({reinterpret_cast<const std::byte*>(ends.data()), ends.size()});
  if (!known) throw std::runtime_error(fmt::format("what a rank sent: {}", to_string(known.error())));
  share.known_ends = *std::move(known);
  return share;
}

GatheredShare put_together(std::vector<GatheredShare> shares, const AnalysisConsumer& consumer,
                           std::size_t most_streams) {
  const std::vector<std::vector<std::uint32_t>> numbers = number_streams(shares);
  for (std::size_t rank = 0; rank < shares.size(); ++rank) renumber(shares[rank], numbers[rank]);
  GatheredShare all = std::move(shares[0]);
  for (std::size_t rank = 1; rank < shares.size(); ++rank) {
    GatheredShare& more = shares[rank];
    compare_files(all.result, more.result, rank);
    add_counts(all.result, more.result);
    add_points(all.result, more.result);
    add_files(all.result, more.result);
    std::move(more.result.streams.begin(), more.result.streams.end(), std::back_inserter(all.result.streams));
    std::move(more.verdicts.begin(), more.verdicts.end(), std::back_inserter(all.verdicts));
    std::move(more.known_ends.begin(), more.known_ends.end(), std::back_inserter(all.known_ends));
  }
  check_once(all.result);
  const auto forget = [&](const StreamSummary& stream) { all.result.verdicts.losses_of_stream.erase(stream.stream); };
  all.result.streams_not_asked_for += std::erase_if(all.result.streams, [&](const StreamSummary& stream) {
    if (consumer.lists(stream.stream)) return false;
    forget(stream);
    return true;
  });
  KeptStreams kept{most_streams, forget};
  kept.add(all.result.streams);
  all.result.streams = kept.take();
  all.result.streams_unlisted += kept.left_out();
  std::stable_sort(all.verdicts.begin(), all.verdicts.end(),
                   [](const Verdict& a, const Verdict& b) { return a.packet < b.packet; });
  return all;
}

}  // namespace roce::analyze
