// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/page_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <vector>

#include "conform/report/markup.h"
#include "conform/report/tries_text.h"
#include "packet_text/time_text.h"
#include "text/text_buffer.h"

namespace roce::conform {

namespace {

// A page of more rows is slow, and nobody reads it.
constexpr std::size_t kMostChanges = 5000;
constexpr std::size_t kMostNotJudged = 2000;

std::string row(std::string_view heading, std::string_view text) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", heading, markup_text(text));
}

/// A column of the matrix.
struct Column {
  std::string_view heading;
  std::string_view tone;  ///< the class of cells that are not 0
  std::size_t Tally::*number;
};

constexpr std::array<Column, 9> kColumns{{{"pass", "", &Tally::passed},
                                          {"fail", "bad", &Tally::failed},
                                          {"deviates", "caution", &Tally::deviating},
                                          {"known", "faint", &Tally::known},
                                          {"passes though known to fail", "bad", &Tally::surprising},
                                          {"skipped", "faint", &Tally::skipped},
                                          {"wrong case", "bad", &Tally::wrong},
                                          {"inconclusive", "bad", &Tally::inconclusive},
                                          {"dead", "bad", &Tally::lost}}};

/// Returns the columns that have a number, and always those of what passed and failed.
std::vector<Column> columns_of(const Tally& all) {
  std::vector<Column> columns;
  columns.reserve(kColumns.size());
  for (const Column& column : kColumns) {
    if (column.number == &Tally::passed || column.number == &Tally::failed || all.*column.number != 0) {
      columns.push_back(column);
    }
  }
  return columns;
}

std::string number_cells(const std::vector<Column>& columns, const Tally& tally) {
  std::string cells;
  for (const Column& column : columns) {
    const std::size_t number = tally.*column.number;
    cells += fmt::format("<td class=\"number {}\">{}</td>", number == 0 ? "faint" : column.tone, number_text(number));
  }
  return cells;
}

/// The instances of a case.
struct CaseRow {
  const InstanceRecord* first = nullptr;
  Tally tally{};
};

std::string case_rows(const RunResult& result, const std::map<std::string, CaseRow>& cases,
                      const std::vector<Column>& columns) {
  std::string rows;
  for (const auto& [name, one] : cases) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}<span class=\"title\">{}</span></th>{}<td>{}</td><td class=\"words\">{}</td></tr>\n",
        markup_text(name), markup_text(result.cases.at(name).title), number_cells(columns, one.tally),
        to_string(one.first->level), markup_text(fmt::format("{}", fmt::join(one.first->rules, ", "))));
  }
  return rows;
}

}  // namespace

std::string number_text(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

std::string headline(const Tally& all) {
  std::string text = fmt::format("{} of {} passed", number_text(all.passed), number_text(all.total()));
  const std::size_t deviating = all.failed + all.deviating;
  if (deviating != 0) text += fmt::format("; {} {}", number_text(deviating), deviating == 1 ? "deviates" : "deviate");
  if (all.failed != 0 && all.deviating != 0) text += fmt::format(", {} of them of level must", number_text(all.failed));
  if (all.known != 0) text += fmt::format("; {} fail as the device is known to", number_text(all.known));
  if (all.surprising != 0) {
    text += fmt::format("; {} passed although the device is known to fail", number_text(all.surprising));
  }
  if (all.skipped != 0) text += fmt::format("; {} skipped", number_text(all.skipped));
  if (all.wrong != 0) text += fmt::format("; {} because their case is wrong", number_text(all.wrong));
  if (all.inconclusive != 0) {
    text += fmt::format("; {} inconclusive, for their tries did not agree", number_text(all.inconclusive));
  }
  if (all.lost != 0) text += fmt::format("; {} without a verdict, for the device died", number_text(all.lost));
  return text + ".";
}

std::vector<std::pair<std::string, std::string>> tested_facts(const Tested& tested) {
  text::TextBuffer started;
  constexpr unsigned digits = 6;
  packet_text::UtcText{}.append(started, tested.started_ns, digits);
  std::vector<std::pair<std::string, std::string>> facts{{"Device", tested.device}, {"Link", tested.link}};
  if (tested.noise) facts.emplace_back("Wire", to_string(*tested.noise));
  if (!tested.kind_of_device.empty()) facts.emplace_back("Kind of device", tested.kind_of_device);
  facts.emplace_back("Started", std::string{started.data(), started.size()});
  facts.emplace_back("Seed", std::to_string(tested.seed));
  if (!tested.only.empty()) facts.emplace_back("Only", fmt::format("{}", fmt::join(tested.only, " or ")));
  if (tested.quick) facts.emplace_back("Instances", "one of each case");
  facts.emplace_back("Program", "roce-conform " + tested.program);
  return facts;
}

std::string tested_rows(const Tested& tested) {
  std::string rows;
  for (const auto& [name, text] : tested_facts(tested)) rows += row(name, text);
  return rows;
}

std::string matrix(const RunResult& result) {
  std::map<std::string, std::map<std::string, CaseRow>> groups;
  for (const InstanceRecord& instance : result.instances) {
    CaseRow& one = groups[instance.group()][instance.of];
    if (one.first == nullptr) one.first = &instance;
    one.tally.add(instance);
  }
  const Tally all = count_all(result);
  const std::vector<Column> columns = columns_of(all);
  std::string text = "<thead><tr><th scope=\"col\">case</th>";
  for (const Column& column : columns) {
    text += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", column.heading);
  }
  text += "<th scope=\"col\">level</th><th scope=\"col\">rules</th></tr></thead>\n";
  const std::map<std::string, Tally> of_groups = count_groups(result);
  for (const auto& [name, cases] : groups) {
    text += fmt::format(
        "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\">{}<span class=\"title\">{} {}</span></th>{}<td></td>"
        "<td></td></tr>\n{}</tbody>\n",
        markup_text(name), number_text(cases.size()), cases.size() == 1 ? "case" : "cases",
        number_cells(columns, of_groups.at(name)), case_rows(result, cases, columns));
  }
  return text + fmt::format("<tfoot><tr><th scope=\"row\">all</th>{}<td></td><td></td></tr></tfoot>\n",
                            number_cells(columns, all));
}

std::string changes_section(const std::optional<ResultChanges>& changes) {
  if (!changes) return {};
  std::string text = fmt::format(
      "<section aria-labelledby=\"changes\">\n<h2 id=\"changes\">What changed</h2>\n<p>Compared with a run on {}, seed "
      "{}.{} {}</p>\n",
      markup_text(changes->before.device), changes->before.seed,
      changes->same_seed ? "" : " The seeds differ, so that values in failures are not compared.",
      changes->not_selected == 0
          ? ""
          : number_text(changes->not_selected) + " instances that only one of the runs selected are left out.");
  if (changes->all.empty()) {
    return text + fmt::format("<p><strong>None changed</strong> of {} instances.</p>\n</section>\n",
                              number_text(changes->compared));
  }
  text +=
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"What changed\">\n<table>\n<caption>Instances "
      "that changed, those that fail now first</caption>\n<thead><tr><th scope=\"col\">instance</th><th "
      "scope=\"col\">change</th><th scope=\"col\">was</th><th scope=\"col\">is</th><th scope=\"col\">how it "
      "fails</th></tr></thead>\n<tbody>\n";
  std::size_t shown = 0;
  for (const InstanceChange& change : changes->all) {
    if (++shown > kMostChanges) break;
    const std::string_view tone = change.kind == ChangeKind::broken ? "bad" : "";
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"{}\">{}</td><td>{}</td><td class=\"{}\">{}</td><td "
        "class=\"words\">{}</td></tr>\n",
        markup_text(change.name), tone, to_string(change.kind), change.was.empty() ? "-" : change.was, tone,
        change.is.empty() ? "-" : change.is, markup_text(change.message));
  }
  text += "</tbody>\n</table>\n</div>\n";
  if (changes->all.size() > kMostChanges) {
    text += fmt::format("<p>{} more changes are left out of this page.</p>\n",
                        number_text(changes->all.size() - kMostChanges));
  }
  return text + "</section>\n";
}

std::string not_judged_section(const RunResult& result) {
  std::string rows;
  std::size_t count = 0;
  for (const InstanceRecord& instance : result.instances) {
    const CaseOutcome& outcome = instance.outcome;
    const bool is_shown =
        outcome.result == Result::xfail || outcome.result == Result::skip || outcome.result == Result::not_run;
    if (!is_shown || ++count > kMostNotJudged) continue;
    std::string reason = outcome.because;
    if (outcome.result == Result::skip) reason = "lacks " + outcome.lacks;
    if (outcome.result == Result::not_run) reason = why_not_run(outcome);
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"words\">{}</td><td class=\"words\">{}</td></tr>\n",
        markup_text(instance.name), to_string(outcome.result), markup_text(reason),
        outcome.failure ? markup_text(outcome.failure->what) : "");
  }
  if (count == 0) return {};
  std::string text = fmt::format(
      "<section aria-labelledby=\"rest\">\n<h2 id=\"rest\">Known, skipped, not run</h2>\n<details>\n<summary>{} "
      "instances</summary>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Known, skipped, not "
      "run\">\n<table>\n<caption>Instances that neither passed nor failed by surprise</caption>\n<thead><tr><th "
      "scope=\"col\">instance</th><th scope=\"col\">result</th><th scope=\"col\">because</th><th "
      "scope=\"col\">seen</th>"
      "</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
      number_text(count), rows);
  if (count > kMostNotJudged) {
    text += fmt::format("<p>{} more are left out of this page.</p>\n", number_text(count - kMostNotJudged));
  }
  return text + "</details>\n</section>\n";
}

}  // namespace roce::conform
