// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/host_facts.h"

namespace roce::analyze {

namespace {

using enum HostFact;
using enum FactBasis;

constexpr std::array<HostFactInfo, kHostFacts> kInfos{{
    {packets_sent, "packets_sent", "RoCE packets sent", sent},
    {bytes_sent, "bytes_sent", "bytes of the frames sent", sent},
    {packets_received, "packets_received", "RoCE packets received with a good ICRC", received},
    {bytes_received, "bytes_received", "bytes of the frames received", received},
    {sends_completed, "sends_completed", "SENDs that ended", concluded},
    {receives_completed, "receives_completed", "receives that were used", concluded},
    {write_requests, "write_requests", "WRITE requests received", received},
    {read_requests, "read_requests", "READ requests received", received},
    {atomic_requests, "atomic_requests", "atomic requests received", received},
    {duplicate_requests, "duplicate_requests", "request packets received that were executed before", received},
    {requests_out_of_sequence, "requests_out_of_sequence", "request packets received ahead of a missing one", received},
    {sequence_naks_sent, "sequence_naks_sent", "NAKs (PSN sequence error) sent", sent},
    {rnr_naks_sent, "rnr_naks_sent", "RNR NAKs sent", sent},
    {access_naks_sent, "access_naks_sent", "NAKs (remote access error) sent", sent},
    {invalid_naks_sent, "invalid_naks_sent", "NAKs (invalid request) sent", sent},
    {sequence_naks_received, "sequence_naks_received", "NAKs (PSN sequence error) received", received},
    {progress_naks_received, "progress_naks_received", "sequence NAKs received that acknowledge more", concluded},
    {rnr_naks_received, "rnr_naks_received", "RNR NAKs received", received},
    {access_naks_received, "access_naks_received", "NAKs (remote access error) received", received},
    {invalid_naks_received, "invalid_naks_received", "NAKs (invalid request) received", received},
    {implied_naks, "implied_naks", "answers that passed an unanswered READ or atomic", concluded},
    {timeouts, "timeouts", "went back after silence", concluded},
    {go_backs, "go_backs", "went back, but for RNR NAKs", concluded},
    {retries_exceeded, "retries_exceeded", "gave up after silence", concluded},
    {rnr_retries_exceeded, "rnr_retries_exceeded", "gave up after RNR NAKs", concluded},
    {ce_received, "ce_received", "packets received with CE", received},
    {cnps_sent, "cnps_sent", "CNPs sent", sent},
    {cnps_received, "cnps_received", "CNPs received", received},
    {icrc_errors, "icrc_errors", "packets received with a wrong ICRC", received},
}};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kInfos.size(); ++i) {
    if (static_cast<std::size_t>(kInfos[i].fact) != i) return false;
  }
  return true;
}
static_assert(are_in_order());

}  // namespace

std::span<const HostFactInfo> host_fact_infos() {
  return kInfos;
}

const HostFactInfo& host_fact_info(HostFact fact) {
  return kInfos[static_cast<std::size_t>(fact)];
}

}  // namespace roce::analyze
