// SPDX-License-Identifier: BSD-2-Clause
// The data of the page of --report.
#include "conform/report/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conform/report/deviation_json.h"
#include "conform/report/page_parts.h"
#include "conform/report/tally.h"
#include "conform/report/tries_text.h"
#include "page/page.h"
#include "page/run_page.h"

namespace roce::conform {

namespace {

using Json = nlohmann::ordered_json;
using page::Form;
using page::RunTable;
using page::Tone;

constexpr std::size_t kLongestInstances = std::size_t{6} << 20;
constexpr std::size_t kMostChangeRows = 5000;

/// Returns the columns of a table that counts instances: first some of its own, then one for each verdict.
std::vector<page::RunColumn> with_verdicts(std::vector<page::RunColumn> columns) {
  columns.push_back({"instances", Form::count});
  for (const TallyPart& part : kTallyParts) {
    const bool is_harmless = part.number == &Tally::passed || part.number == &Tally::deviating ||
                             part.number == &Tally::known || part.number == &Tally::skipped;
    columns.push_back({part.name, is_harmless ? Form::count : Form::bad});
  }
  return columns;
}

void append_counts(Json& row, const Tally& tally) {
  row.push_back(tally.total());
  for (const TallyPart& part : kTallyParts) row.push_back(tally.*part.number);
}

/// Returns how urgent a tally is: what failed first, then what deviates, then what has no verdict.
auto urgency(const Tally& tally) {
  return std::tuple{tally.failed + tally.surprising + tally.lost + tally.wrong, tally.deviating, tally.inconclusive};
}

Json areas_json(const RunResult& result) {
  std::map<std::string, std::set<std::string_view>> cases;
  for (const InstanceRecord& instance : result.instances) cases[instance.group()].insert(instance.of);
  const auto counts = [](const Tally& tally) {
    Json json = Json::array();
    for (const TallyPart& part : kTallyParts) json.push_back(tally.*part.number);
    return json;
  };
  Json json{{"verdicts", Json::array()}, {"rows", Json::array()}, {"all", counts(count_all(result))}};
  for (const TallyPart& part : kTallyParts) json["verdicts"].push_back(part.name);
  for (const auto& [area, tally] : count_groups(result)) {
    json["rows"].push_back({{"area", area}, {"cases", cases.at(area).size()}, {"counts", counts(tally)}});
  }
  return json;
}

/// Returns rows by their urgency; those of the same one keep their order.
std::vector<Json> by_urgency(std::vector<std::pair<Tally, Json>> rows) {
  std::ranges::stable_sort(
      rows, [](const auto& one, const auto& other) { return urgency(one.first) > urgency(other.first); });
  std::vector<Json> sorted;
  sorted.reserve(rows.size());
  for (auto& [tally, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

RunTable rule_table(const RunResult& result) {
  std::map<std::string, Tally> rules;
  for (const InstanceRecord& instance : result.instances) {
    for (const std::string& rule : instance.rules) rules[rule].add(instance);
  }
  std::vector<std::pair<Tally, Json>> rows;
  for (const auto& [rule, tally] : rules) {
    const auto text = result.rules.find(rule);
    Json row = Json::array({rule, text == result.rules.end() ? std::string{} : text->second});
    append_counts(row, tally);
    rows.emplace_back(tally, std::move(row));
  }
  return {"rules", "Results by rule",
          "An instance counts for each rule that its case is about. The rules that fail come first.",
          with_verdicts({{"rule", Form::text}, {"says", Form::text}}), by_urgency(std::move(rows))};
}

RunTable case_table(const RunResult& result) {
  struct CaseCount {
    const InstanceRecord* first = nullptr;
    Tally tally{};
  };
  std::map<std::string, CaseCount> cases;
  for (const InstanceRecord& instance : result.instances) {
    CaseCount& one = cases[instance.of];
    if (one.first == nullptr) one.first = &instance;
    one.tally.add(instance);
  }
  std::vector<std::pair<Tally, Json>> rows;
  for (const auto& [name, one] : cases) {
    Json row = Json::array({name, result.cases.at(name).title, to_string(one.first->level),
                            fmt::format("{}", fmt::join(one.first->rules, ", "))});
    append_counts(row, one.tally);
    rows.emplace_back(one.tally, std::move(row));
  }
  return {"cases", "Results by case", "The cases that fail come first.",
          with_verdicts({{"case", Form::text}, {"title", Form::text}, {"level", Form::text}, {"rules", Form::text}}),
          by_urgency(std::move(rows))};
}

/// Returns why an instance has its verdict; empty if it just passed.
std::string reason_of(const CaseOutcome& outcome) {
  switch (outcome.result) {
    case Result::skip:
      return "lacks " + outcome.lacks;
    case Result::not_run:
      return why_not_run(outcome);
    case Result::xfail:
    case Result::xpass:
      return outcome.because;
    default:
      return outcome.failure ? outcome.failure->what : std::string{};
  }
}

/// Returns the fields that were not as they should be, by what they should be or what they were.
std::string wrong_fields(const CaseOutcome& outcome, std::string Comparison::*side) {
  std::string text;
  if (!outcome.failure) return text;
  for (const Comparison& field : outcome.failure->fields) {
    if (!field.is_right) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.field, field.*side);
  }
  return text;
}

Json instance_row(const InstanceRecord& instance) {
  const CaseOutcome& outcome = instance.outcome;
  return Json::array({instance.name, instance.group(), part_of(instance), to_string(instance.level),
                      fmt::format("{}", fmt::join(instance.rules, ", ")), reason_of(outcome),
                      wrong_fields(outcome, &Comparison::expected), wrong_fields(outcome, &Comparison::seen)});
}

/// Returns the place of an instance in its table: what is news, what is known or was not judged, what passed.
int rank_of(const InstanceRecord& instance) {
  switch (instance.outcome.result) {
    case Result::pass:
      return 2;
    case Result::xfail:
    case Result::skip:
      return 1;
    default:
      return 0;
  }
}

/// Returns all instances, those that deviate first, as far as there is room.
RunTable instance_table(const RunResult& result, std::size_t& left_out) {
  RunTable table{"instances",
                 "Instances",
                 "Each with its verdict and what was expected and seen. The filter takes text and conditions such as "
                 "area=psn or verdict=fail, all of which have to hold.",
                 {{"instance", Form::text},
                  {"area", Form::text},
                  {"verdict", Form::text},
                  {"level", Form::text},
                  {"rules", Form::text},
                  {"message", Form::text},
                  {"expected", Form::text},
                  {"seen", Form::text}},
                 {}};
  std::size_t length = 0;
  for (const int rank : {0, 1, 2}) {
    for (const InstanceRecord& instance : result.instances) {
      if (rank_of(instance) != rank) continue;
      Json row = instance_row(instance);
      length += row.dump(-1, ' ', false, Json::error_handler_t::replace).size();
      if (length > kLongestInstances) {
        ++left_out;
      } else {
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

RunTable change_table(const ResultChanges& changes) {
  RunTable table{"changes",
                 "What changed",
                 "Instances that changed since the earlier run, those that fail now first.",
                 {{"instance", Form::text},
                  {"change", Form::text},
                  {"was", Form::text},
                  {"is", Form::text},
                  {"message", Form::text}},
                 {}};
  for (const InstanceChange& change : changes.all) {
    if (table.rows.size() == kMostChangeRows) break;
    table.rows.push_back(Json::array({change.name, to_string(change.kind), change.was, change.is, change.message}));
  }
  return table;
}

void add_changes(page::RunPage& page, const ResultChanges& changes) {
  const auto broken = std::ranges::count(changes.all, ChangeKind::broken, &InstanceChange::kind);
  page.statements.emplace_back(
      broken == 0 ? Tone::note : Tone::error,
      fmt::format("compared with a run on {}, seed {}: {} of {} instances changed, {} of them fail now and passed then",
                  changes.before.device, changes.before.seed, number_text(changes.all.size()),
                  number_text(changes.compared), number_text(static_cast<std::size_t>(broken))));
  if (!changes.same_seed) {
    page.statements.emplace_back(Tone::note, "the seeds differ, so that values in failures are not compared");
  }
  if (changes.all.size() > kMostChangeRows) {
    page.statements.emplace_back(Tone::warning, fmt::format("{} more changes are left out of this page",
                                                            number_text(changes.all.size() - kMostChangeRows)));
  }
  page.tables.push_back(change_table(changes));
}

void judge_run(page::RunPage& page, const RunResult& result) {
  const Tally all = count_all(result);
  page.verdict = headline(all);
  page.tone = Tone::note;
  if (all.deviating + all.inconclusive != 0) page.tone = Tone::warning;
  if (all.failed + all.surprising + all.wrong + all.lost + all.open != 0) page.tone = Tone::error;
  if (all.passed_later != 0) {
    page.statements.emplace_back(
        Tone::warning, fmt::format("{} passed, and had failed in a try before: frames were lost on the way, the tester "
                                   "was too slow, or instances disturb each other on the device",
                                   number_text(all.passed_later)));
  }
  const auto interrupted = std::ranges::count_if(result.instances, [](const InstanceRecord& instance) {
    return instance.outcome.result == Result::not_run && !instance.outcome.because.empty();
  });
  if (interrupted != 0) {
    page.statements.emplace_back(Tone::warning, fmt::format("{} were not run, for the run was interrupted",
                                                            number_text(static_cast<std::size_t>(interrupted))));
  }
}

void add_left_out(page::RunPage& page, std::size_t count, std::string_view what) {
  if (count == 0) return;
  page.statements.emplace_back(Tone::warning,
                               fmt::format("{} {} left out of this page, for it would be too long; the JSON file of "
                                           "the run has all of them",
                                           number_text(count), what));
}

}  // namespace

std::string report_page_json(const RunResult& result, const std::optional<ResultChanges>& changes) {
  page::RunPage page;
  page.program = "roce-conform " + result.tested.program;
  page.title = "Conformance of " + result.tested.device;
  judge_run(page, result);
  page.facts = tested_facts(result.tested);
  if (changes) add_changes(page, *changes);
  std::size_t instances_left_out = 0;
  page.tables.push_back(instance_table(result, instances_left_out));
  page.tables.push_back(rule_table(result));
  page.tables.push_back(case_table(result));
  const DeviationList deviations = list_deviations(result);
  add_left_out(page, deviations.left_out, "deviations are");
  add_left_out(page, deviations.without_frames, "deviations have their frames");
  add_left_out(page, instances_left_out, "instances are");
  const Json left_out{
      {"instances", instances_left_out}, {"deviations", deviations.left_out}, {"frames", deviations.without_frames}};
  const Json areas = areas_json(result);
  std::string run = page::run_json(page, nullptr, {}, "");
  run.pop_back();  // the end of its line
  return fmt::format("{{\"run\":{},\"areas\":{},\"deviations\":{},\"left_out\":{}}}\n", run,
                     areas.dump(-1, ' ', false, Json::error_handler_t::replace), deviations.json, left_out.dump());
}

std::string report_page(const RunResult& result, const std::optional<ResultChanges>& changes) {
  return page::make_page(page::Kind::conform, report_page_json(result, changes));
}

}  // namespace roce::conform
