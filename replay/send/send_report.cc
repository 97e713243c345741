// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/send_report.h"
#include "command_line/counted.h"
#include "text/live_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

namespace roce::replay {

namespace {

constexpr std::array<std::string_view, kUnfitReasons> kUnfitNames{"cut", "too_long", "no_side", "no_datagram",
                                                                  "not_own"};

[[nodiscard]] double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

[[nodiscard]] double microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

[[nodiscard]] std::string rate_text(const SendTotals& totals) {
  const double time = seconds(totals.time);
  if (time <= 0) return "";
  return fmt::format(", {:.0f} frames/s, {:.3f} Gbit/s", static_cast<double>(totals.all_frames()) / time,
                     static_cast<double>(totals.all_bytes()) * 8e-9 / time);
}

[[nodiscard]] std::string sentence(Unfit reason, const UnfitFrames& frames) {
  const std::string others = frames.count > 1 ? fmt::format(" and {} more", frames.count - 1) : "";
  const std::string first = fmt::format("frame {} of {}{}", frames.number, frames.file, others);
  switch (reason) {
    case Unfit::cut:
      return fmt::format("{} cut when captured ({} of its {} bytes are there)",
                         first + (frames.count > 1 ? " were" : " was"), frames.captured, frames.bytes);
    case Unfit::too_long:
      return fmt::format(
          "{} longer than the interface carries (the first has {} bytes, the longest {}): a larger MTU, or "
          "roce-replay rewrite with a smaller path MTU",
          first + (frames.count > 1 ? " are" : " is"), frames.bytes, frames.most);
    case Unfit::no_datagram:
      return fmt::format("{} no RoCE v2 packet, which is what --link udp sends",
                         first + (frames.count > 1 ? " are" : " is"));
    case Unfit::not_own:
      return fmt::format(
          "{} from an address that the interface does not have, and --link udp sends from its own: --ip-map",
          first + (frames.count > 1 ? " are" : " is"));
    case Unfit::no_side:
      break;
  }
  return fmt::format("{} neither end on side A: --side-a with more addresses",
                     first + (frames.count > 1 ? " have" : " has"));
}

[[nodiscard]] nlohmann::ordered_json unfit_json(const Survey& survey) {
  nlohmann::ordered_json skipped = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kUnfitReasons; ++i) {
    if (survey.unfit[i].count != 0) skipped[std::string{kUnfitNames[i]}] = survey.unfit[i].count;
  }
  return skipped;
}

[[nodiscard]] std::uint64_t unfit_count(const Survey& survey) {
  std::uint64_t count = 0;
  for (const UnfitFrames& frames : survey.unfit) count += frames.count;
  return count;
}

void add_faults(const Survey& survey, nlohmann::ordered_json& line) {
  if (!survey.faults) return;
  line["faults"] = {{"dropped", survey.faults->dropped}, {"duplicates", survey.faults->duplicates}};
}

[[nodiscard]] std::string faults_text(const Survey& survey) {
  return fmt::format("faults of each play: {} dropped, {} copies added", survey.faults->dropped,
                     survey.faults->duplicates);
}

void print_json(std::FILE* out, const nlohmann::ordered_json& line) {
  fmt::print(out, "{}\n", line.dump());
  std::fflush(out);
}

[[nodiscard]] std::string pace_text(const Pace& pace) {
  switch (pace.kind) {
    case Pace::Kind::original:
      return pace.speed == 1 ? "at the captured times" : fmt::format("at {} times the captured speed", pace.speed);
    case Pace::Kind::packets:
      return fmt::format("at {} frames/s", pace.per_second);
    case Pace::Kind::bits:
      return fmt::format("at {:.3f} Gbit/s", static_cast<double>(pace.per_second) * 1e-9);
    case Pace::Kind::top:
      break;
  }
  return "as fast as the link takes them";
}

/// Returns the time from the first frame of all plays to the last; none if it depends on the link or there is no end.
[[nodiscard]] std::optional<Duration> duration_of(const Survey& survey, const Pace& pace, std::uint64_t loops) {
  if (loops == 0 || pace.kind == Pace::Kind::top || survey.frames == 0) return std::nullopt;
  const auto plays = static_cast<double>(loops);
  double time = 0;
  if (pace.kind == Pace::Kind::original) {
    time = (seconds(survey.period()) * (plays - 1) + seconds(survey.length)) / pace.speed;
  } else {
    const double units =
        pace.kind == Pace::Kind::packets ? static_cast<double>(survey.frames) : static_cast<double>(survey.bytes) * 8;
    time = units * plays / static_cast<double>(pace.per_second);
  }
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(time));
}

}  // namespace

void show_live(const SendTotals& totals) {
  text::show_live_line(command_line::counted(totals.all_frames(), "frame", "frames") + rate_text(totals));
}

std::string unfit_text(const Survey& survey) {
  std::string text;
  for (std::size_t i = 0; i < kUnfitReasons; ++i) {
    if (survey.unfit[i].count == 0) continue;
    if (!text.empty()) text += "; ";
    text += sentence(static_cast<Unfit>(i), survey.unfit[i]);
  }
  return text;
}

void print_dry_run(const SendOptions& options, const Survey& survey, const Pace& pace) {
  const std::optional<Duration> duration = duration_of(survey, pace, options.loops);
  const bool two_sides = !options.side_a.empty();
  if (options.json) {
    nlohmann::ordered_json line{{"event", "dry_run"},
                                {"frames", survey.frames},
                                {"bytes", survey.bytes},
                                {"roce_packets", survey.roce},
                                {"loops", options.loops},
                                {"captured_seconds", seconds(survey.length)},
                                {"preloaded", !survey.blocks.empty()},
                                {"skipped", unfit_json(survey)},
                                {"super_frames", survey.super_frames}};
    add_faults(survey, line);
    line["seconds"] = duration ? nlohmann::ordered_json(seconds(*duration)) : nlohmann::ordered_json();
    if (two_sides) line["side_frames"] = survey.side_frames;
    return print_json(stdout, line);
  }
  fmt::print("{} ({}), {} bytes, captured in {:.3f} s\n", command_line::counted(survey.frames, "frame", "frames"),
             command_line::counted(survey.roce, "RoCE packet", "RoCE packets"), survey.bytes, seconds(survey.length));
  if (two_sides) fmt::print("side A sent {} of them, side B {}\n", survey.side_frames[0], survey.side_frames[1]);
  if (survey.super_frames != 0) fmt::print("{} super-frames are cut into packets\n", survey.super_frames);
  if (survey.faults) fmt::print("{}\n", faults_text(survey));
  if (unfit_count(survey) != 0) fmt::print("left out: {}\n", unfit_text(survey));
  fmt::print("would go {}{}{}, {}\n",
             options.loops == 0   ? "again and again until stopped, "
             : options.loops == 1 ? ""
                                  : fmt::format("{} times, ", options.loops),
             pace_text(pace), duration ? fmt::format(", in {:.3f} s", seconds(*duration)) : "",
             survey.blocks.empty() ? "read while sending" : "read into memory first");
}

void print_sent(const SendOptions& options, const Survey& survey, const SendTotals& totals) {
  const bool on_wire = options.write.empty();
  // Standard output may be the file.
  std::FILE* const out = options.write == "-" ? stderr : stdout;
  const runtime::LatencyHistogram& late = totals.lateness;
  if (options.json) {
    nlohmann::ordered_json line{{"event", "send"},
                                {"frames", totals.all_frames()},
                                {"bytes", totals.all_bytes()},
                                {"seconds", seconds(totals.time)},
                                {"skipped", unfit_json(survey)}};
    add_faults(survey, line);
    if (on_wire) {
      line["refused"] = totals.all_refused();
      line["stopped"] = totals.stopped;
      if (late.count() != 0) {
        line["lateness_us"] = {{"p50", microseconds(late.percentile(0.5))},
                               {"p99", microseconds(late.percentile(0.99))},
                               {"max", microseconds(late.max())}};
      }
    }
    const std::array<const std::string*, 2> names{&options.interface, &options.other_interface};
    for (std::size_t side = 0; on_wire && side < names.size(); ++side) {
      if (names[side]->empty()) continue;
      line["interfaces"].push_back({{"name", *names[side]},
                                    {"frames", totals.frames[side]},
                                    {"bytes", totals.bytes[side]},
                                    {"refused", totals.refused[side]}});
    }
    return print_json(out, line);
  }
  fmt::print(out, "{} {}, {} bytes, {:.3f} s{}\n", on_wire ? "sent" : "wrote",
             command_line::counted(totals.all_frames(), "frame", "frames"), totals.all_bytes(), seconds(totals.time),
             rate_text(totals));
  if (!options.other_interface.empty()) {
    fmt::print(out, "{} on {}, {} on {}\n", totals.frames[0], options.interface, totals.frames[1],
               options.other_interface);
  }
  if (late.count() != 0) {
    fmt::print(out, "late by {:.1f} us (half of the frames), {:.1f} us (99 %), {:.1f} us (at most)\n",
               microseconds(late.percentile(0.5)), microseconds(late.percentile(0.99)), microseconds(late.max()));
  }
  if (totals.all_refused() != 0) {
    fmt::print(out, "{} more were lost: the interface did not take them (it was down, or its queue was full)\n",
               totals.all_refused());
  }
  if (survey.faults) fmt::print(out, "{}\n", faults_text(survey));
  if (unfit_count(survey) != 0) fmt::print(out, "left out: {}\n", unfit_text(survey));
  std::fflush(out);
}

}  // namespace roce::replay
