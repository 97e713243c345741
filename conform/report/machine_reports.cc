// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/machine_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace roce::conform {

namespace {

nlohmann::ordered_json failure_json(const StepFailure& failure) {
  nlohmann::ordered_json json;
  json["file"] = *failure.place.file;
  json["line"] = failure.place.line;
  json["message"] = failure.what;
  json["fields"] = nlohmann::ordered_json::array();
  for (const Comparison& field : failure.fields) {
    nlohmann::ordered_json one;
    one["field"] = field.field;
    one["expected"] = field.expected;
    one["seen"] = field.seen;
    one["right"] = field.is_right;
    json["fields"].push_back(std::move(one));
  }
  return json;
}

/// Returns an object for each run of an instance; none if its first run decided.
nlohmann::ordered_json tries_json(const CaseOutcome& outcome) {
  nlohmann::ordered_json tries = nlohmann::ordered_json::array();
  for (const Try& run : outcome.tries) {
    nlohmann::ordered_json one;
    one["result"] = to_string(run.result);
    one["alone"] = run.is_alone;
    one["counts"] = run.counts;
    one["message"] = run.what;
    tries.push_back(std::move(one));
  }
  return tries;
}

nlohmann::ordered_json instance_json(const Instance& instance, const CaseOutcome& outcome) {
  nlohmann::ordered_json json;
  json["name"] = instance.name();
  json["case"] = instance.of->id;
  json["params"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : instance.parameters) json["params"][name] = value.text;
  json["level"] = to_string(instance.of->level);
  json["rules"] = instance.of->rules;
  json["result"] = to_string(outcome.result);
  if (!outcome.because.empty()) json["because"] = outcome.because;
  json["damage"] = to_string(outcome.damage);
  json["tries"] = tries_json(outcome);
  json["branches"] = outcome.branches;
  json["saved"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : outcome.saved) json["saved"][name] = value;
  json["frames"] = outcome.frames.size();
  json["failure"] = outcome.failure ? failure_json(*outcome.failure) : nlohmann::ordered_json();
  return json;
}

nlohmann::ordered_json noise_json(const Noise& noise) {
  nlohmann::ordered_json json;
  json["probes"] = noise.probes;
  json["lost"] = noise.lost;
  json["duplicated"] = noise.duplicated;
  json["pairs"] = noise.pairs;
  json["reordered"] = noise.reordered;
  json["median_ns"] = noise.median.count();
  json["p99_9_ns"] = noise.slowest.count();
  return json;
}

/// Returns text in which the characters that XML reserves are written out, and those that it forbids are `?`.
std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? '?' : c;
    }
  }
  return escaped;
}

std::string failure_text(const StepFailure& failure) {
  std::string text = fmt::format("{}: {}", to_string(failure.place), failure.what);
  for (const Comparison& field : failure.fields) {
    text += fmt::format("\n{}: expected {}, seen {}{}", field.field, field.expected, field.seen,
                        field.is_right ? " (ok)" : "");
  }
  return text;
}

/// True if the result says nothing about the rule.
bool is_error(const CaseOutcome& outcome) {
  return outcome.result == Result::error || outcome.result == Result::dead || outcome.result == Result::inconclusive;
}

/// True if JUnit has it as neither passed nor failed.
bool is_skipped(const CaseOutcome& outcome) {
  return outcome.result == Result::skip || outcome.result == Result::not_run || outcome.result == Result::xfail;
}

std::string junit_case(const Instance& instance, const CaseOutcome& outcome) {
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n", xml_text(instance.of->id),
                                 xml_text(instance.name()));
  text += fmt::format(
      "      <properties><property name=\"level\" value=\"{}\"/><property name=\"rule\" value=\"{}\"/></properties>\n",
      to_string(instance.of->level), xml_text(fmt::format("{}", fmt::join(instance.of->rules, ", "))));
  if (outcome.result == Result::not_run) text += "      <skipped message=\"the device was dead\"/>\n";
  if (outcome.result == Result::skip) text += fmt::format("      <skipped message=\"{}\"/>\n", xml_text(outcome.lacks));
  if (outcome.result == Result::xpass) {
    text += fmt::format("      <failure message=\"passed although the device is known to fail: {}\"/>\n",
                        xml_text(outcome.because));
  }
  if (outcome.result == Result::xfail) {
    text += fmt::format("      <skipped message=\"known: {}\"/>\n", xml_text(outcome.because));
  } else if (outcome.failure) {
    const std::string_view element = is_error(outcome) ? "error" : "failure";
    const std::string_view prefix = outcome.result == Result::inconclusive ? "inconclusive: " : "";
    text += fmt::format("      <{} message=\"{}{}\">{}</{}>\n", element, prefix, xml_text(outcome.failure->what),
                        xml_text(failure_text(*outcome.failure)), element);
  }
  return text + "    </testcase>\n";
}

}  // namespace

std::string to_json(const RunReport& report) {
  nlohmann::ordered_json json;
  json["format"] = "roce-conform 1";
  json["device"] = report.device;
  json["seed"] = report.seed;
  if (report.noise) json["noise"] = noise_json(*report.noise);
  json["results"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.instances.size(); ++i) {
    json["results"].push_back(instance_json(report.instances[i], report.outcomes[i]));
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_junit(const RunReport& report) {
  struct Suite {
    std::size_t tests = 0;
    std::size_t failures = 0;
    std::size_t errors = 0;
    std::size_t skipped = 0;
    std::string cases;
  };
  std::map<std::string, Suite> suites;
  for (std::size_t i = 0; i < report.instances.size(); ++i) {
    Suite& suite = suites[report.instances[i].of->group()];
    const CaseOutcome& outcome = report.outcomes[i];
    ++suite.tests;
    suite.failures += outcome.result == Result::fail || outcome.result == Result::xpass ? 1 : 0;
    suite.errors += is_error(outcome) ? 1 : 0;
    suite.skipped += is_skipped(outcome) ? 1 : 0;
    suite.cases += junit_case(report.instances[i], outcome);
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [name, suite] : suites) {
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        xml_text(name), suite.tests, suite.failures, suite.errors, suite.skipped, suite.cases);
  }
  return text + "</testsuites>\n";
}

}  // namespace roce::conform
