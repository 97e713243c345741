// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that ask the device's communication manager.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/run/attributes.h"
#include "conform/run/case_run.h"
#include "conform/run/field_match.h"
#include "conform/target/cm_service.h"

namespace roce::conform {

namespace {

// The device is asked again after this time.
constexpr Duration kPollInterval = std::chrono::milliseconds{1};

std::optional<Value> report_value(const CmReport& report, std::string_view name) {
  if (name == "kind") return Value::word(report.kind);
  if (name == "reason") return Value::number(report.reason);
  if (name == "private_data") return Value::word(report.private_data);
  return std::nullopt;
}

}  // namespace

std::optional<TargetResult<void>> CaseRun::call_cm(const Verb& action, const Step& step) {
  CmService* const cm = bed_.cm();
  if (cm == nullptr) {
    give_up({step.place, fmt::format("{}: the case has to need cm", step.verb)});
    return std::nullopt;
  }
  CmTerms terms;
  if (const CaseResult<void> read = read_terms(terms, action.arguments, *this); !read) {
    give_up(read.error());
    return std::nullopt;
  }
  if (action.kind == Verb::Kind::accept) return cm->accept(terms);
  if (action.kind == Verb::Kind::reject) return cm->reject(terms);
  if (action.kind == Verb::Kind::delay) return cm->delay(terms);
  const PeerQp* const qp = own_qp_of(action.on, step.place);
  if (qp == nullptr) return std::nullopt;
  if (action.kind == Verb::Kind::disconnect) return cm->disconnect(bed_.cm_end(*qp));
  if (terms.service == ServiceId{}) terms.service = TestBed::default_service(qp->setup.type);
  return cm->connect(bed_.cm_end(*qp), terms);
}

CaseRun::Verdict CaseRun::run_action(const AwaitCmEvent& action, const Step& step) {
  CmService* const cm = bed_.cm();
  if (cm == nullptr) return give_up({step.place, "cm_event: the case has to need cm"});
  if (action.fields.empty()) {
    const std::optional<CmReport> report = cm->poll_event();
    return !report || fail(step.place, fmt::format("expected no event, seen: {}", report->kind));
  }
  const std::optional<Time> until = deadline_of(step);
  if (!until) return false;
  std::optional<CmReport> report = cm->poll_event();
  while (!report && target_.now() < *until) {
    (void)wait_for_frame(std::min(*until, target_.now() + kPollInterval));
    if (outcome_.failure) return false;
    report = cm->poll_event();
  }
  if (!report) return miss(step.place, "expected an event of the communication manager, seen: none");
  std::vector<Comparison> fields;
  for (const FieldPattern& field : action.fields) {
    const std::optional<Value> seen = report_value(*report, field.name);
    const Evaluated<bool> fits = seen ? allows(field, *seen, *this) : false;
    if (!seen || !fits) {
      return give_up({field.place, seen ? fits.error() : fmt::format("a CM event has no {}", field.name)});
    }
    fields.push_back({field.name, wanted_text(field, *this), to_string(*seen), *fits});
  }
  return is_right(fields) || fail(step.place, "a CM event differs", std::move(fields));
}

}  // namespace roce::conform
