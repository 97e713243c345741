// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/read_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <utility>

#include "conform/report/json_report.h"
#include "conform/report/object_reader.h"
#include "packet_text/time_text.h"
#include "roce/json_input/json_input.h"
#include "roce/wire/time.h"

namespace roce::conform {

namespace {

using Json = ObjectReader::Json;
using Problem = std::optional<std::string>;

constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr json_input::Bounds kBounds{
    .bytes = kLargest, .values = std::size_t{1} << 27, .members = std::size_t{1} << 17};

// The longest that a capture file takes.
constexpr std::size_t kLongestFrame = 262144;

constexpr std::array kLevels{Level::must, Level::should, Level::info};
constexpr std::array kResults{Result::pass,  Result::fail, Result::xfail,   Result::xpass,       Result::skip,
                              Result::error, Result::dead, Result::not_run, Result::inconclusive};
constexpr std::array kDamages{Damage::none, Damage::one_qp, Damage::device_deaf, Damage::agent_gone, Damage::no_link};

template <typename Words>
typename Words::value_type read_word(const ObjectReader& reader, const char* name, const Words& words) {
  const std::string text = reader.text(name);
  std::string expected = "one of";
  for (const auto word : words) {
    if (to_string(word) == text) return word;
    expected += fmt::format("{} {}", word == words.front() ? "" : ",", to_string(word));
  }
  reader.refuse(name, expected, text);
  return words.front();
}

/// Returns the values of hex digits, two a byte; nothing if they are not that.
std::optional<std::vector<std::byte>> bytes_of(std::string_view digits) {
  constexpr std::string_view all = "0123456789abcdef";
  if (digits.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t high = all.find(digits[2 * i]);
    const std::size_t low = all.find(digits[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return bytes;
}

std::vector<LoggedFrame> read_frames(const ObjectReader& instance, Problem& problem) {
  std::vector<LoggedFrame> frames;
  const Json& list = instance.list("frames");
  frames.reserve(list.size());
  for (const Json& json : list) {
    const ObjectReader reader{json, instance.place_of("frames", frames.size()), problem};
    LoggedFrame& frame = frames.emplace_back();
    const std::uint64_t time = reader.number("time");
    constexpr auto latest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (time > latest) reader.refuse("time", "nanoseconds below 2^63", json["time"]);
    if (problem) return {};
    frame.time = Time{Duration{static_cast<std::int64_t>(time)}};
    const std::string from = reader.text("from");
    frame.from_device = from == "D";
    if (from != "D" && from != "T") reader.refuse("from", "D or T", from);
    frame.line = reader.small_number("line");
    auto bytes = bytes_of(reader.text("bytes"));
    if (problem) return {};
    if (!bytes || bytes->size() > kLongestFrame) {
      reader.refuse("bytes", fmt::format("pairs of hex digits 0-9 and a-f, at most {}", kLongestFrame), json["bytes"]);
      return {};
    }
    frame.bytes = std::move(*bytes);
  }
  return frames;
}

StepFailure read_failure(const ObjectReader& instance, Problem& problem) {
  const ObjectReader reader{instance.object("failure"), instance.place_of("failure"), problem};
  StepFailure failure{.place = {.file = std::make_shared<const std::string>(reader.text("file")),
                                .line = reader.small_number("line"),
                                .column = reader.small_number("column")},
                      .what = reader.text("message")};
  const Json& fields = reader.list("fields");
  failure.fields.reserve(fields.size());
  for (const Json& json : fields) {
    const ObjectReader field{json, reader.place_of("fields", failure.fields.size()), problem};
    failure.fields.push_back({field.text("field"), field.text("expected"), field.text("seen"), field.flag("right")});
  }
  return failure;
}

std::vector<std::pair<std::string, std::string>> read_saved(const ObjectReader& instance) {
  std::vector<std::pair<std::string, std::string>> saved;
  const Json& list = instance.list("saved");
  saved.reserve(list.size());
  for (const Json& json : list) {
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_string()) {
      instance.refuse("saved", "a list of pairs of a name and a value", json);
      return {};
    }
    saved.emplace_back(json[0].get<std::string>(), json[1].get<std::string>());
  }
  return saved;
}

std::vector<Try> read_tries(const ObjectReader& instance, Problem& problem) {
  std::vector<Try> tries;
  const Json& list = instance.list("tries");
  tries.reserve(list.size());
  for (const Json& json : list) {
    const ObjectReader reader{json, instance.place_of("tries", tries.size()), problem};
    tries.push_back({.result = read_word(reader, "result", kResults),
                     .what = reader.text("message"),
                     .is_alone = reader.flag("alone"),
                     .counts = reader.flag("counts")});
  }
  return tries;
}

Noise read_noise(const ObjectReader& whole, Problem& problem) {
  const ObjectReader reader{whole.object("noise"), whole.place_of("noise"), problem};
  const auto count = [&](const char* name) { return static_cast<std::uint32_t>(reader.small_number(name)); };
  const auto time = [&](const char* name) {
    constexpr std::uint64_t day = 86'400'000'000'000;
    const std::uint64_t ns = reader.number(name);
    if (ns > day) reader.refuse(name, "nanoseconds of at most a day", ns);
    return Duration{static_cast<Duration::rep>(std::min(ns, day))};
  };
  return {.probes = count("probes"),
          .lost = count("lost"),
          .pairs = count("pairs"),
          .reordered = count("reordered"),
          .duplicated = count("duplicated"),
          .median = time("median_ns"),
          .slowest = time("p99_9_ns")};
}

InstanceRecord read_instance(const ObjectReader& reader, Problem& problem) {
  InstanceRecord instance{.name = reader.text("name"),
                          .of = reader.text("case"),
                          .level = read_word(reader, "level", kLevels),
                          .rules = reader.texts("rules"),
                          .parameters = reader.pairs("params")};
  CaseOutcome& outcome = instance.outcome;
  outcome.result = read_word(reader, "result", kResults);
  outcome.because = reader.optional_text("because");
  outcome.lacks = reader.optional_text("lacks");
  if (reader.has("damage")) outcome.damage = read_word(reader, "damage", kDamages);
  if (reader.has("tries")) outcome.tries = read_tries(reader, problem);
  outcome.branches = reader.optional_texts("branches");
  if (reader.has("saved")) outcome.saved = read_saved(reader);
  if (reader.has("failure")) outcome.failure = read_failure(reader, problem);
  if (reader.has("frames")) outcome.frames = read_frames(reader, problem);
  return instance;
}

Tested read_tested(const ObjectReader& reader) {
  Tested tested{.program = reader.text("program"),
                .device = reader.text("device"),
                .link = reader.text("link"),
                .kind_of_device = reader.text("kind_of_device"),
                .seed = reader.number("seed"),
                .only = reader.texts("only"),
                .quick = reader.flag("quick"),
                .arguments = reader.texts("arguments")};
  const std::string started = reader.text("started");
  const auto time = packet_text::parse_time(started);
  if (!time || time->relative) reader.refuse("started", "a time, such as 2026-11-25T16:30:00Z", started);
  tested.started_ns = time ? time->ns : 0;
  return tested;
}

RunResult read_whole(const Json& json, Problem& problem) {
  const ObjectReader reader{json, "", problem};
  if (const std::string format = reader.text("format"); format != kResultFormat) {
    reader.refuse("format", fmt::format("\"{}\", as run --json of this version writes", kResultFormat), format);
    return {};
  }
  RunResult result{.tested = read_tested(reader)};
  if (reader.has("noise")) result.tested.noise = read_noise(reader, problem);
  for (auto& [rule, text] : reader.pairs("rules")) result.rules.emplace(rule, std::move(text));
  for (const auto& [name, one] : reader.object("cases").items()) {
    const ObjectReader record{one, reader.place_of("cases." + name), problem};
    result.cases.emplace(name, CaseRecord{record.text("title"), record.text("why"), record.text("file")});
  }
  const Json& results = reader.list("results");
  result.instances.reserve(results.size());
  for (const Json& one : results) {
    const ObjectReader instance{one, reader.place_of("results", result.instances.size()), problem};
    result.instances.push_back(read_instance(instance, problem));
    if (!problem && !result.cases.contains(result.instances.back().of)) {
      instance.refuse("case", "a name that cases has", one["case"]);
    }
    if (problem) return {};
  }
  return result;
}

tl::expected<std::string, std::string> read_text(const std::string& path) {
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  std::string content;
  std::array<char, 1 << 16> part{};
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    content.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (content.size() > kLargest) return tl::unexpected(std::string{"longer than 1 GiB, which no result is"});
  }
  if (!file.is_open() || file.bad()) return tl::unexpected(std::string{std::strerror(errno)});
  return content;
}

}  // namespace

tl::expected<RunResult, std::string> read_result(const std::string& path) {
  const tl::expected<std::string, std::string> content = read_text(path);
  if (!content) return tl::unexpected(fmt::format("{}: {}", path, content.error()));
  const auto json = json_input::parse<Json>(*content, kBounds);
  if (!json) {
    return tl::unexpected(
        fmt::format("{} is not a result of run --json: byte {}: {}", path, json.error().byte, json.error().what));
  }
  Problem problem;
  RunResult result = read_whole(*json, problem);
  if (problem) return tl::unexpected(fmt::format("{} is not a result of run --json: {}", path, *problem));
  return result;
}

}  // namespace roce::conform
