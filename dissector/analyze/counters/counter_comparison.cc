// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/counter_comparison.h"

#include <fmt/format.h>

namespace roce::analyze {

namespace {

/// Sets what the capture shows, and whether the NIC's number agrees with it.
void judge(ComparedCounter& compared, const HostCounts& host, const NicCounter& counter, bool is_difference) {
  compared.note = counter.note;
  if (counter.reading == Reading::elsewhere) {
    compared.agreement = Agreement::not_in_the_capture;
    return;
  }
  compared.figure = figure(host, counter);
  if (compared.figure->holds(compared.nic)) {
    compared.agreement = Agreement::agrees;
  } else if (!is_difference && compared.nic > compared.figure->most) {
    compared.agreement = Agreement::cannot_be_told;
    compared.note = "it has counted before the capture began, too: a snapshot before it (--before) tells";
  } else {
    compared.agreement = Agreement::differs;
  }
}

}  // namespace

std::string_view to_string(Agreement agreement) {
  switch (agreement) {
    case Agreement::agrees:
      return "agrees";
    case Agreement::differs:
      return "differs";
    case Agreement::cannot_be_told:
      return "cannot be told";
    case Agreement::not_in_the_capture:
      return "not in the capture";
    case Agreement::unknown_name:
      break;
  }
  return "unknown name";
}

std::optional<std::int64_t> ComparedCounter::difference() const {
  if (!figure) return std::nullopt;
  if (nic < figure->least) return -static_cast<std::int64_t>(figure->least - nic);
  return nic > figure->most ? static_cast<std::int64_t>(nic - figure->most) : 0;
}

HostCounts sum_of(std::span<const HostCounts* const> addresses) {
  HostCounts sum = *addresses.front();
  for (const HostCounts* other : addresses.subspan(1)) {
    for (const HostFactInfo& info : host_fact_infos()) {
      sum.facts.add(info.fact, other->facts[info.fact].certain);
      sum.facts.doubt(info.fact, other->facts[info.fact].doubtful);
    }
    sum.is_capture_point = sum.is_capture_point && other->is_capture_point;
    sum.is_whole = sum.is_whole && other->is_whole;
    sum.has_unchecked = sum.has_unchecked || other->has_unchecked;
  }
  return sum;
}

std::vector<ComparedCounter> compare(const HostCounts& host, NicVendor vendor, const NicStatistics& after,
                                     const NicStatistics* before) {
  std::vector<ComparedCounter> all;
  for (const NicValue& value : after.counters) {
    ComparedCounter compared;
    compared.name = value.name;
    compared.nic = value.value;
    const NicValue* earlier = before != nullptr ? before->find(value.name) : nullptr;
    const bool went_back = earlier != nullptr && earlier->value > value.value;
    if (earlier != nullptr && !went_back) compared.nic -= earlier->value;
    const NicCounter* counter = find_nic_counter(vendor, value.name);
    if (counter == nullptr) {
      compared.agreement = Agreement::unknown_name;
      compared.note = fmt::format("no counter of {} that is known here", to_string(vendor));
    } else {
      judge(compared, host, *counter, before != nullptr);
      const bool is_judged = compared.agreement != Agreement::not_in_the_capture;
      if (is_judged && went_back) {
        compared.agreement = Agreement::cannot_be_told;
        compared.note = fmt::format("it fell from {}: the driver was loaded again, or it wrapped", earlier->value);
      } else if (is_judged && before != nullptr && earlier == nullptr) {
        compared.agreement = Agreement::cannot_be_told;
        compared.note = "the snapshot before does not have it";
      }
    }
    all.push_back(std::move(compared));
  }
  if (before == nullptr) return all;
  for (const NicValue& value : before->counters) {
    if (after.find(value.name) != nullptr) continue;
    ComparedCounter compared;
    compared.name = value.name;
    compared.agreement = Agreement::cannot_be_told;
    compared.note = "only the snapshot before has it";
    all.push_back(std::move(compared));
  }
  return all;
}

}  // namespace roce::analyze
