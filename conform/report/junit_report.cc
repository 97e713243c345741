// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/junit_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>

#include "conform/report/markup.h"
#include "conform/report/tries_text.h"

namespace roce::conform {

namespace {

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

std::string junit_case(const InstanceRecord& instance) {
  const CaseOutcome& outcome = instance.outcome;
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n", markup_text(instance.of),
                                 markup_text(instance.name));
  text += fmt::format(
      "      <properties><property name=\"level\" value=\"{}\"/><property name=\"rule\" value=\"{}\"/></properties>\n",
      to_string(instance.level), markup_text(fmt::format("{}", fmt::join(instance.rules, ", "))));
  if (outcome.result == Result::not_run) {
    text += fmt::format("      <skipped message=\"{}\"/>\n", markup_text(why_not_run(outcome)));
  }
  if (outcome.result == Result::skip)
    text += fmt::format("      <skipped message=\"{}\"/>\n", markup_text(outcome.lacks));
  if (outcome.result == Result::xpass) {
    text += fmt::format("      <failure message=\"passed although the device is known to fail: {}\"/>\n",
                        markup_text(outcome.because));
  }
  if (outcome.result == Result::xfail) {
    text += fmt::format("      <skipped message=\"known: {}\"/>\n", markup_text(outcome.because));
  } else if (outcome.failure) {
    const std::string_view element = is_error(outcome) ? "error" : "failure";
    const std::string_view prefix = outcome.result == Result::inconclusive ? "inconclusive: " : "";
    text += fmt::format("      <{} message=\"{}{}\">{}</{}>\n", element, prefix, markup_text(outcome.failure->what),
                        markup_text(failure_text(*outcome.failure)), element);
  }
  return text + "    </testcase>\n";
}

}  // namespace

std::string to_junit(const RunResult& result) {
  struct Suite {
    std::size_t tests = 0;
    std::size_t failures = 0;
    std::size_t errors = 0;
    std::size_t skipped = 0;
    std::string cases;
  };
  std::map<std::string, Suite> suites;
  for (const InstanceRecord& instance : result.instances) {
    Suite& suite = suites[instance.group()];
    const CaseOutcome& outcome = instance.outcome;
    ++suite.tests;
    suite.failures += outcome.result == Result::fail || outcome.result == Result::xpass ? 1 : 0;
    suite.errors += is_error(outcome) ? 1 : 0;
    suite.skipped += is_skipped(outcome) ? 1 : 0;
    suite.cases += junit_case(instance);
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [name, suite] : suites) {
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        markup_text(name), suite.tests, suite.failures, suite.errors, suite.skipped, suite.cases);
  }
  return text + "</testsuites>\n";
}

}  // namespace roce::conform
