// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/time_bins.h"

#include <algorithm>

namespace roce::analyze {

TimeBin& TimeBin::operator+=(const TimeBin& other) {
  packets += other.packets;
  bytes += other.bytes;
  payload += other.payload;
  resent += other.resent;
  lost += other.lost;
  naks += other.naks;
  rnr += other.rnr;
  ce += other.ce;
  cnp += other.cnp;
  xoff += other.xoff;
  return *this;
}

bool brings_new_payload(const analysis::PacketAnalysis& known) {
  using enum analysis::VerdictKind;
  return std::none_of(known.verdicts.begin(), known.verdicts.end(), [](const analysis::Verdict& verdict) {
    return verdict.kind == retransmission || verdict.kind == duplicate || verdict.kind == response_repeated ||
           verdict.kind == bad_icrc;
  });
}

void count(const AnalysedPacket& packet, TimeBin& bin) {
  ++bin.packets;
  bin.bytes += packet.observation.wire_length;
  if (brings_new_payload(packet.analysis)) bin.payload += packet.observation.payload_length;
}

std::uint64_t TimeBin::*counter_of(analysis::VerdictKind kind) {
  using enum analysis::VerdictKind;
  switch (kind) {
    case retransmission:
      return &TimeBin::resent;
    case request_lost_before:
    case response_lost_before:
    case request_lost_after:
    case response_lost_after:
    case lost_beyond:
      return &TimeBin::lost;
    case nak_sequence_error:
    case nak_invalid_request:
    case nak_remote_access_error:
    case nak_remote_operational_error:
    case nak_invalid_rd_request:
      return &TimeBin::naks;
    case rnr_nak:
      return &TimeBin::rnr;
    case ce_mark:
      return &TimeBin::ce;
    case cnp:
      return &TimeBin::cnp;
    default:
      return nullptr;
  }
}

std::uint64_t weight_of(const analysis::Verdict& verdict) {
  return counter_of(verdict.kind) == &TimeBin::lost ? verdict.lost_packets : 1;
}

TimeBin& TimeBins::at(std::int64_t time_ns) {
  if (!start_ns_) start_ns_ = time_ns;
  const std::int64_t since = std::max<std::int64_t>(time_ns - *start_ns_, 0);
  while (static_cast<std::uint64_t>(since / width_ns_) >= kMost) join_neighbours(2);
  const auto index = static_cast<std::size_t>(since / width_ns_);
  if (index >= bins_.size()) bins_.resize(index + 1);
  return bins_[index];
}

void TimeBins::join(std::size_t count) {
  if (bins_.size() > count) join_neighbours((bins_.size() + count - 1) / count);
}

void TimeBins::join_neighbours(std::size_t count) {
  std::size_t into = 0;
  for (std::size_t i = 0; i < bins_.size(); i += count, ++into) {
    TimeBin sum;
    for (std::size_t j = i; j < std::min(i + count, bins_.size()); ++j) sum += bins_[j];
    bins_[into] = sum;
  }
  bins_.resize(into);
  width_ns_ *= static_cast<std::int64_t>(count);
}

}  // namespace roce::analyze
