// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "conform/report/frame_text.h"
#include "conform/report/markup.h"
#include "conform/report/packet_files.h"
#include "conform/report/page_parts.h"
#include "conform/report/tries_text.h"
#include "text/text_buffer.h"

namespace roce::conform {

namespace {

// A browser opens 15 MB at once. An article without frames takes some 2 KB.
constexpr std::size_t kMostWithFrames = 300;
constexpr std::size_t kLongestWithFrames = std::size_t{11} << 20;
constexpr std::size_t kLongest = std::size_t{13} << 20;
constexpr std::size_t kOpened = 20;

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t present = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < present ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) text += k <= present ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string rule_list(const RunResult& result, const InstanceRecord& instance) {
  std::string items;
  for (const std::string& rule : instance.rules) {
    const auto text = result.rules.find(rule);
    items += fmt::format("<li><strong>{}</strong>{}</li>\n", markup_text(rule),
                         text == result.rules.end() ? "" : ": " + markup_text(text->second));
  }
  return fmt::format("<ul class=\"rules\">\n{}</ul>\n", items);
}

std::string comparison_table(const StepFailure& failure) {
  if (failure.fields.empty()) return {};
  std::string rows;
  for (const Comparison& field : failure.fields) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
                        markup_text(field.field), markup_text(field.expected), field.is_right ? "" : "bad",
                        markup_text(field.seen), field.is_right ? "right" : "<strong>wrong</strong>");
  }
  return fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Expected and "
      "seen\">\n<table>\n<caption>Expected "
      "and seen</caption>\n<thead><tr><th scope=\"col\">field</th><th scope=\"col\">expected</th><th "
      "scope=\"col\">seen</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
      rows);
}

std::string frame_rows(const std::vector<LoggedFrame>& frames) {
  std::string rows;
  for (const LoggedFrame& frame : frames) {
    text::TextBuffer buffer;
    append_frame_text(buffer, frame, {});
    const std::string_view text{buffer.data(), buffer.size()};
    const std::size_t gap = std::min(text.find(" psn "), text.size());
    rows += fmt::format(
        "<tr class=\"{}\"><td class=\"number\">{:+.6f}</td><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td "
        "class=\"number\">{}</td></tr>\n",
        frame.from_device ? "from_device" : "from_tester", milliseconds_into(frames, frame),
        frame.from_device ? "D→T" : "T→D", markup_text(text.substr(0, gap)),
        markup_text(text.substr(std::min(gap + 1, text.size()))), frame.line);
  }
  return rows;
}

/// Returns the ladder of frames, and a link that saves them. Error: a sentence.
tl::expected<std::string, std::string> ladder(const RunResult& result, const InstanceRecord& instance, bool is_open) {
  const std::vector<LoggedFrame>& frames = instance.outcome.frames;
  if (frames.empty()) return "<p>No frame was sent or seen.</p>\n";
  tl::expected<std::string, std::string> file = packet_file(result, instance);
  if (!file) return file;
  const std::string name = markup_text(packet_file_name(instance));
  return fmt::format(
      "<details{}>\n<summary>{} {}</summary>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"Frames\">\n<table class=\"ladder\">\n<caption>Frames between tester T and device D, up to the "
      "deviation</caption>\n<thead><tr><th scope=\"col\" class=\"number\">ms</th><th scope=\"col\">way</th><th "
      "scope=\"col\">opcode</th><th scope=\"col\">fields</th><th scope=\"col\" "
      "class=\"number\">line</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n</details>\n"
      "<p><a download=\"{}\" href=\"data:application/octet-stream;base64,{}\">Save the frames as {}</a></p>\n",
      is_open ? " open" : "", number_text(frames.size()), frames.size() == 1 ? "frame" : "frames", frame_rows(frames),
      name, base64(*file), name);
}

/// Returns the damage and all tries of an instance; nothing if its first run decided.
std::string tries_list(const CaseOutcome& outcome) {
  std::string text;
  if (outcome.damage != Damage::none) {
    text += fmt::format("<p>Damage: {}</p>\n", markup_text(damage_text(outcome.damage)));
  }
  if (outcome.tries.empty()) return text;
  text += "<ol>\n";
  for (const Try& run : outcome.tries) text += fmt::format("<li>{}</li>\n", markup_text(try_text(run)));
  return text + "</ol>\n";
}

std::string_view verdict(const InstanceRecord& instance) {
  switch (instance.outcome.result) {
    case Result::error:
      return "WRONG CASE";
    case Result::dead:
      return "DEAD";
    case Result::inconclusive:
      return "INCONCLUSIVE";
    case Result::xpass:
      return "XPASS";
    default:
      return instance.level == Level::must ? "FAIL" : "DEVIATES";
  }
}

/// Returns an article without its frames and its end.
std::string article(const RunResult& result, const InstanceRecord& instance, std::size_t number) {
  const CaseRecord& of = result.cases.at(instance.of);
  const bool is_mild = instance.outcome.result == Result::fail && instance.level != Level::must;
  std::string text = fmt::format(
      "<article aria-labelledby=\"failure-{0}\">\n<h3 id=\"failure-{0}\"><span class=\"verdict {1}\">{2}</span> {3} "
      "<span class=\"level\">level {4}</span></h3>\n<p>{5}</p>\n{6}",
      number, is_mild ? "caution" : "bad", verdict(instance), markup_text(instance.name), to_string(instance.level),
      markup_text(of.title), rule_list(result, instance));
  if (!of.why.empty()) text += fmt::format("<p class=\"why\">{}</p>\n", markup_text(of.why));
  if (const auto& failure = instance.outcome.failure) {
    text += fmt::format("<p class=\"seen\"><code>{}</code>: {}</p>\n{}", markup_text(to_string(failure->place)),
                        markup_text(failure->what), comparison_table(*failure));
  } else {
    text += fmt::format("<p class=\"seen\">It passed although the device is known to fail: {}</p>\n",
                        markup_text(instance.outcome.because));
  }
  text += tries_list(instance.outcome);
  return text +
         fmt::format("<p>Run it alone:</p>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"Command\">{}</pre>\n",
                     markup_text(command_for(result.tested, instance.name)));
}

}  // namespace

tl::expected<std::string, std::string> failure_articles(const RunResult& result) {
  std::string text;
  std::size_t count = 0;
  std::size_t without_frames = 0;
  std::size_t left_out = 0;
  for (const InstanceRecord& instance : result.instances) {
    const Result is = instance.outcome.result;
    if (is == Result::xfail || (is != Result::xpass && !instance.outcome.failure)) continue;
    if (text.size() > kLongest) {
      ++left_out;
      continue;
    }
    ++count;
    text += article(result, instance, count);
    if (is == Result::xpass) {
      text += "</article>\n";
      continue;
    }
    std::string frames = "<p>Its frames are left out of this page.</p>\n";
    bool has_room = count <= kMostWithFrames && text.size() < kLongestWithFrames;
    if (has_room) {
      auto shown = ladder(result, instance, count <= kOpened);
      if (!shown) return shown;
      has_room = text.size() + shown->size() <= kLongestWithFrames;
      if (has_room) frames = std::move(*shown);
    }
    without_frames += has_room ? 0 : 1;
    text += frames + "</article>\n";
  }
  if (count == 0) return "<p>There are none.</p>\n";
  std::string note;
  if (without_frames != 0) {
    note += fmt::format("<p class=\"note\">The frames of {} of {} deviations are left out of this page.</p>\n",
                        number_text(without_frames), number_text(count + left_out));
  }
  if (left_out != 0) {
    note += fmt::format("<p class=\"note\">{} more deviations are left out of this page altogether.</p>\n",
                        number_text(left_out));
  }
  if (!note.empty()) {
    note +=
        "<p class=\"note\">The JSON file of the run has all of them; <code>--packets</code> writes all "
        "frames.</p>\n";
  }
  return note + text;
}

}  // namespace roce::conform
