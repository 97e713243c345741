// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/carried_state.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "roce/analysis/pause.h"
#include "roce/analysis/tracker_shards.h"
#include "roce/json_input/json_input.h"
#include "roce/link/output_file.h"

namespace nlohmann {

template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& from) { to = from ? json(*from) : json(); }
  static void from_json(const json& from, std::optional<T>& to) {
    to = from.is_null() ? std::nullopt : std::optional<T>{from.get<T>()};
  }
};

}  // namespace nlohmann

namespace roce::analyze {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaptureFile, path, format, size_bytes, frame_base, frames, first_ns, last_ns,
                                   dropped_interface, dropped_os, dropped_between, unknown_link, unknown_link_type,
                                   is_damaged, is_out_of_order, problems)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CapturePoint, name, file_set, interface, frames, last_ns, backwards, farthest_back)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileSet, given_name, first_path, last_path, first_ns, last_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaptureCounts, frames, bytes, outside_window, roce_frames, roce_packets,
                                   super_frames, versions, icrc_good, icrc_bad, icrc_unchecked, malformed, cut_short,
                                   pause_frames, unknown_link, without_time, clock_backwards, first_ns, last_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LossPlaces, before, after, beyond, damaged)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerdictCount, verdicts, packets, first_frame, first_ns, last_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CmRepetitions, by_message, slowest_setup_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerdictTotals, kinds, rules, losses, cm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerdictCounts, kinds, rules, losses, cm, losses_of_stream)

namespace {

using nlohmann::json;

// A line of JSON follows, and after it the states of the trackers, whose lengths that line gives.
constexpr std::string_view kFirstLine = "roce-analyze state 4";
// The JSON line has an entry for each stream that lost packets.
constexpr json_input::Bounds kHeadBounds{
    .bytes = std::size_t{1} << 30, .values = std::size_t{1} << 24, .members = 65536};

json head_of(const CarriedState& state, std::size_t closed_bytes) {
  return {{"files", state.files},
          {"files_left_out", state.files_left_out},
          {"counts", state.counts},
          {"points", state.points},
          {"file_sets", state.file_sets},
          {"frames", state.frames},
          {"start_ns", state.start_ns},
          {"last_ns", state.last_ns},
          {"closed_left_out", state.closed_left_out},
          {"breaches", state.breaches},
          {"verdicts", state.verdicts},
          {"point_verdicts", state.point_verdicts},
          {"bytes", {state.trackers.size(), state.pauses.size(), closed_bytes}}};
}

/// Sets everything but the trackers' states and returns their lengths. Throws the exceptions of the JSON library.
std::array<std::uint64_t, 3> read_head(const json& head, CarriedState& state) {
  head.at("files").get_to(state.files);
  head.at("files_left_out").get_to(state.files_left_out);
  head.at("counts").get_to(state.counts);
  head.at("points").get_to(state.points);
  head.at("file_sets").get_to(state.file_sets);
  head.at("frames").get_to(state.frames);
  head.at("start_ns").get_to(state.start_ns);
  head.at("last_ns").get_to(state.last_ns);
  head.at("closed_left_out").get_to(state.closed_left_out);
  head.at("breaches").get_to(state.breaches);
  head.at("verdicts").get_to(state.verdicts);
  head.at("point_verdicts").get_to(state.point_verdicts);
  return head.at("bytes").get<std::array<std::uint64_t, 3>>();
}

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

}  // namespace

tl::expected<CarriedState, std::string> CarriedState::parse(std::string_view text) {
  const std::size_t first = text.find('\n');
  if (text.substr(0, first) != kFirstLine) {
    constexpr std::string_view kAnyVersion = kFirstLine.substr(0, kFirstLine.rfind(' '));
    if (text.substr(0, kAnyVersion.size()) == kAnyVersion) {
      return tl::unexpected(fmt::format("saved by another version: '{}' instead of '{}'; begin without --after",
                                        text.substr(0, std::min(first, std::size_t{40})), kFirstLine));
    }
    return tl::unexpected(std::string{"no state that --carry wrote"});
  }
  const std::size_t second = text.find('\n', first + 1);
  if (second == std::string_view::npos) return tl::unexpected(fmt::format("ends in its head, at byte {}", text.size()));
  CarriedState state;
  std::array<std::uint64_t, 3> lengths{};
  const auto head = json_input::parse<json>(text.substr(first + 1, second - first - 1), kHeadBounds);
  if (!head) {
    return tl::unexpected(fmt::format("its head is damaged at byte {}: {}", head.error().byte, head.error().what));
  }
  try {
    lengths = read_head(*head, state);
  } catch (const json::exception& error) {
    return tl::unexpected(fmt::format("its head is damaged: {}", error.what()));
  }
  std::array<Bytes, 3> parts;
  Bytes rest = bytes_of(text.substr(second + 1));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (lengths[i] > rest.size()) {
      return tl::unexpected(fmt::format("ends early: {} bytes of {} are there", rest.size(), lengths[i]));
    }
    parts[i] = rest.first(static_cast<std::size_t>(lengths[i]));
    rest = rest.subspan(parts[i].size());
  }
  state.trackers.assign(parts[0].begin(), parts[0].end());
  state.pauses.assign(parts[1].begin(), parts[1].end());
  analysis::TrackerShards trackers;
  analysis::PauseTracker pauses;
  auto restored = trackers.restore(state.trackers).and_then([&] { return pauses.restore(state.pauses); });
  auto closed = analysis::restore_streams(parts[2]);
  if (!restored) return tl::unexpected(to_string(restored.error()));
  if (!closed) return tl::unexpected(to_string(closed.error()));
  state.open = trackers.streams();
  state.closed = *std::move(closed);
  return state;
}

tl::expected<CarriedState, std::string> CarriedState::load(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return tl::unexpected(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
  if (file.bad()) return tl::unexpected(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return parse(text).map_error([&](const std::string& why) { return fmt::format("{}: {}", path, why); });
}

std::string CarriedState::saved() const {
  const std::vector<std::byte> closed_bytes = analysis::save_streams(closed);
  // Names of files may contain invalid UTF-8, which is replaced.
  std::string all = fmt::format(
      "{}\n{}\n", kFirstLine, head_of(*this, closed_bytes.size()).dump(-1, ' ', true, json::error_handler_t::replace));
  for (const Bytes part : {Bytes{trackers}, Bytes{pauses}, Bytes{closed_bytes}}) {
    all.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return all;
}

tl::expected<void, std::string> CarriedState::save(const std::string& path) const {
  link::Result<link::OutputFile> file = link::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error().message);
  if (const auto written = file->write(bytes_of(saved())); !written) return tl::unexpected(written.error().message);
  if (const auto ended = file->close(); !ended) return tl::unexpected(ended.error().message);
  return {};
}

}  // namespace roce::analyze
