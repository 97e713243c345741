// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/tries_text.h"

#include <fmt/format.h>

namespace roce::conform {

std::string_view damage_text(Damage damage) {
  switch (damage) {
    case Damage::none:
      return "none";
    case Damage::one_qp:
      return "at most this QP is stuck: the device serves a new one";
    case Damage::device_deaf:
      return "the device is deaf: the agent answers, but no new QP is served";
    case Damage::agent_gone:
      return "the agent is gone, or the machine that it runs on";
    case Damage::no_link:
      return "there is no link: the interface is down or gone";
  }
  return "";
}

std::string why_not_run(const CaseOutcome& outcome) {
  return outcome.because.empty() ? "the device was dead before" : outcome.because;
}

std::string try_text(const Try& run) {
  std::string text = fmt::format("{}{}", run.is_alone ? "alone, " : "", to_string(run.result));
  if (!run.what.empty()) text += ", " + run.what;
  if (!run.counts && run.result != Result::dead) text += " (does not count: the tester lost frames or was too slow)";
  return text;
}

}  // namespace roce::conform
