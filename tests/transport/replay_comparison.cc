// SPDX-License-Identifier: BSD-2-Clause
#include "replay_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "roce/wire/aeth.h"

namespace roce::test {

namespace {

/// Something that a responder did, as text to compare.
struct Deed {
  std::uint64_t number = 0;
  std::string what;
};

/// Appends to `to` the entries of both lists that are not in their longest common subsequence.
void compare(const std::string& capture, const std::vector<Deed>& real, const std::vector<Deed>& ours,
             std::vector<Deviation>& to) {
  std::vector<std::vector<std::size_t>> common(real.size() + 1, std::vector<std::size_t>(ours.size() + 1));
  for (std::size_t i = real.size(); i-- > 0;) {
    for (std::size_t j = ours.size(); j-- > 0;) {
      common[i][j] =
          real[i].what == ours[j].what ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < real.size() || j < ours.size()) {
    if (i < real.size() && j < ours.size() && real[i].what == ours[j].what) {
      ++i;
      ++j;
    } else if (j == ours.size() || (i < real.size() && common[i + 1][j] >= common[i][j + 1])) {
      to.push_back({capture, real[i].number, false, real[i].what});
      ++i;
    } else {
      to.push_back({capture, ours[j].number, true, ours[j].what});
      ++j;
    }
  }
}

std::vector<Deed> deeds_of(const std::vector<NumberedAnswer>& answers) {
  std::vector<Deed> deeds;
  for (const NumberedAnswer& one : answers) deeds.push_back({one.number, describe(one.answer)});
  return deeds;
}

void count(const Answer& answer, ReplayTotals& totals) {
  ++totals.answers;
  const OpcodeInfo& info = opcode_info(answer.opcode);
  if (info.operation == Operation::atomic_acknowledge) ++totals.atomics;
  const bool ends = info.position == Position::last || info.position == Position::only;
  if (info.operation == Operation::read_response && ends) ++totals.reads;
  if (info.operation != Operation::acknowledge) return;
  const AethSyndrome syndrome{*answer.syndrome};
  if (syndrome.kind() == AethKind::ack) ++totals.acks;
  if (syndrome.kind() == AethKind::rnr_nak) ++totals.rnr_naks;
  if (syndrome.nak_code() == NakCode::psn_sequence_error) ++totals.sequence_naks;
  if (syndrome.nak_code() == NakCode::remote_access_error) ++totals.access_naks;
  if (syndrome.nak_code() == NakCode::remote_operational_error) ++totals.operational_naks;
}

void replay(const CapturedConnection& connection, const transport::Profile& profile, ReplayResult& result) {
  const ResponderTruth truth = truth_of(connection);
  ReplayedResponder ours(connection, truth, profile);
  for (const CapturedFrame& request : connection.requests) ours.feed(request);
  compare(connection.capture, deeds_of(connection.answers), deeds_of(ours.answers()), result.deviations);

  ReplayTotals& totals = result.totals;
  const transport::Counters counters = ours.counters();
  ++totals.connections;
  totals.requests += connection.requests.size();
  totals.duplicates += counters.duplicate_requests;
  totals.corrupt += counters.icrc_errors;
  for (const NumberedAnswer& answer : connection.answers) count(answer.answer, totals);
  if (!truth.receipts) return;
  totals.receipts += truth.receipts->size();
  std::vector<Deed> real;
  std::vector<Deed> own;
  for (const Receipt& receipt : *truth.receipts) real.push_back({0, describe(receipt)});
  for (const NumberedReceipt& one : ours.receipts()) own.push_back({one.number, describe(one.receipt)});
  compare(connection.capture, real, own, result.deviations);
}

}  // namespace

std::string describe(const Deviation& deviation) {
  return fmt::format("{} {} {}: only {}: {}", deviation.capture, deviation.ours ? "request" : "answer",
                     deviation.number, deviation.ours ? "ours" : "the real one", deviation.what);
}

ReplayTotals& ReplayTotals::operator+=(const ReplayTotals& other) {
  connections += other.connections;
  requests += other.requests;
  duplicates += other.duplicates;
  corrupt += other.corrupt;
  answers += other.answers;
  acks += other.acks;
  atomics += other.atomics;
  reads += other.reads;
  sequence_naks += other.sequence_naks;
  access_naks += other.access_naks;
  operational_naks += other.operational_naks;
  rnr_naks += other.rnr_naks;
  receipts += other.receipts;
  return *this;
}

std::string describe(const ReplayTotals& totals) {
  return fmt::format(
      "{} connections, {} requests ({} duplicates, {} corrupt), {} answers: {} ACKs, {} atomics, {} READs, NAK 0x60 "
      "{}, "
      "0x62 {}, 0x63 {}, RNR NAK {}; {} receives",
      totals.connections, totals.requests, totals.duplicates, totals.corrupt, totals.answers, totals.acks,
      totals.atomics, totals.reads, totals.sequence_naks, totals.access_naks, totals.operational_naks, totals.rnr_naks,
      totals.receipts);
}

ReplayResult replay(const std::string& capture, const transport::Profile& profile) {
  ReplayResult result;
  for (const CapturedConnection& connection : connections_of(capture)) replay(connection, profile, result);
  return result;
}

}  // namespace roce::test
