// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/nic_counter_names.h"

#include <algorithm>

namespace roce::analyze {

namespace {

using enum HostFact;
using enum Reading;
using enum NicVendor;

constexpr std::string_view kCompletions = "completions are not on the wire";
constexpr std::string_view kLayerTwo = "which bytes of a frame it counts is not documented; here: all of the frame";
constexpr std::string_view kOtherTraffic = "it counts traffic that is not RoCE, too";
constexpr std::string_view kSlowRestart = "what a NIC does to its rate is not on the wire";
constexpr std::string_view kPerMessage = "whether it counts messages or packets is not documented; here: messages";
constexpr std::string_view kIwarp = "it is a counter of TCP or iWARP";

constexpr std::array kCounters = std::to_array<NicCounter>({
    {mlx5, "rx_write_requests", same, write_requests},
    {mlx5, "rx_read_requests", same, read_requests},
    {mlx5, "rx_atomic_requests", same, atomic_requests},
    {mlx5, "rx_dct_connect", elsewhere, count, "connections of DC are not decoded"},
    {mlx5, "out_of_buffer", about, rnr_naks_sent, "drops for want of a receive: of UC and UD they show nowhere"},
    {mlx5, "out_of_sequence", about, requests_out_of_sequence},
    {mlx5, "duplicate_request", same, duplicate_requests},
    {mlx5, "rnr_nak_retry_err", about, rnr_naks_received, "without the one that ends the connection"},
    {mlx5, "packet_seq_err", about, sequence_naks_received, "without the one that ends the connection"},
    {mlx5, "implied_nak_seq_err", about, implied_naks},
    {mlx5, "local_ack_timeout_err", about, timeouts},
    {mlx5, "rp_cnp_ignored", elsewhere, count, "which CNPs a NIC ignores is not on the wire"},
    {mlx5, "rp_cnp_handled", about, cnps_received, "without those that it ignored"},
    {mlx5, "np_ecn_marked_roce_packets", same, ce_received},
    {mlx5, "np_cnp_sent", same, cnps_sent},
    {mlx5, "resp_local_length_error", at_most, invalid_naks_sent, "a NAK (invalid request) has other reasons, too"},
    {mlx5, "resp_cqe_error", elsewhere, count, kCompletions},
    {mlx5, "req_cqe_error", elsewhere, count, kCompletions},
    {mlx5, "req_remote_invalid_request", same, invalid_naks_received},
    {mlx5, "req_remote_access_errors", same, access_naks_received},
    {mlx5, "resp_remote_access_errors", same, access_naks_sent},
    {mlx5, "resp_cqe_flush_error", elsewhere, count, kCompletions},
    {mlx5, "req_cqe_flush_error", elsewhere, count, kCompletions},
    {mlx5, "req_transport_retries_exceeded", about, retries_exceeded},
    {mlx5, "req_rnr_retries_exceeded", about, rnr_retries_exceeded},
    {mlx5, "roce_adp_retrans", elsewhere, count, "whether a retransmission was adaptive is not on the wire"},
    {mlx5, "roce_adp_retrans_to", elsewhere, count, "whether a timeout was adaptive is not on the wire"},
    {mlx5, "roce_slow_restart", elsewhere, count, kSlowRestart},
    {mlx5, "roce_slow_restart_cnps", elsewhere, count, kSlowRestart},
    {mlx5, "roce_slow_restart_trans", elsewhere, count, kSlowRestart},
    {mlx5, "rx_icrc_encapsulated", same, icrc_errors},
    {mlx5, "cc_rx_ce_pkts", same, ce_received},
    {mlx5, "cc_rx_cnp_pkts", same, cnps_received},
    {mlx5, "cc_tx_cnp_pkts", same, cnps_sent},
    {mlx5, "rdma_tx_packets", same, packets_sent},
    {mlx5, "rdma_tx_bytes", about, bytes_sent, kLayerTwo},
    {mlx5, "rdma_rx_packets", same, packets_received},
    {mlx5, "rdma_rx_bytes", about, bytes_received, kLayerTwo},

    {rxe, "sent_pkts", same, packets_sent},
    {rxe, "rcvd_pkts", same, packets_received},
    {rxe, "duplicate_request", same, duplicate_requests},
    {rxe, "out_of_seq_request", same, sequence_naks_sent, "one for each NAK, not for each packet"},
    {rxe, "rcvd_rnr_err", same, rnr_naks_received},
    {rxe, "send_rnr_err", same, rnr_naks_sent},
    {rxe, "rcvd_seq_err", about, progress_naks_received, "a NAK for what was to be acknowledged next is not counted"},
    {rxe, "ack_deferred", elsewhere, count, "how its tasks are scheduled is not on the wire"},
    {rxe, "retry_exceeded_err", about, retries_exceeded},
    {rxe, "retry_rnr_exceeded_err", about, rnr_retries_exceeded},
    {rxe, "completer_retry_err", about, go_backs},
    {rxe, "send_err", elsewhere, count, "what could not be sent is not on the wire"},
    {rxe, "link_downed", elsewhere, count, "the state of the link is not on the wire"},
    {rxe, "rdma_sends", about, sends_completed, "those that were flushed count, too"},
    {rxe, "rdma_recvs", about, receives_completed},

    {irdma, "cnpHandled", about, cnps_received, "without those that it ignored"},
    {irdma, "cnpIgnored", elsewhere, count, "which CNPs a NIC ignores is not on the wire"},
    {irdma, "cnpSent", same, cnps_sent},
    {irdma, "RxECNMrkd", same, ce_received},
    {irdma, "InRdmaReads", about, read_requests, kPerMessage},
    {irdma, "InRdmaWrites", about, write_requests, kPerMessage},
    {irdma, "InRdmaSends", about, receives_completed, kPerMessage},
    {irdma, "OutRdmaSends", about, sends_completed, kPerMessage},
    {irdma, "Rx atomics", about, atomic_requests, kPerMessage},
    {irdma, "Rx ATS", about, atomic_requests, kPerMessage},
    {irdma, "Nak Sequence Error", about, sequence_naks_received, "which end counts is not documented"},
    {irdma, "Nak Sequence Error Implied", about, implied_naks},
    {irdma, "RTO", about, timeouts},
    {irdma, "RNR sent", same, rnr_naks_sent},
    {irdma, "RNR received", same, rnr_naks_received},
    {irdma, "Rcvd Out of order packets", about, requests_out_of_sequence},
    {irdma, "CRC errors", about, icrc_errors},
    {irdma, "RxUDP", elsewhere, count, kOtherTraffic},
    {irdma, "TxUDP", elsewhere, count, kOtherTraffic},
    {irdma, "OutRdmaReads", elsewhere, count, "what a host asked for is counted at the host that answers"},
    {irdma, "OutRdmaWrites", elsewhere, count, "what a host asked for is counted at the host that answers"},
    {irdma, "Tx atomics", elsewhere, count, "what a host asked for is counted at the host that answers"},
    {irdma, "Tx ATS", elsewhere, count, "what a host asked for is counted at the host that answers"},
    {irdma, "RdmaBnd", elsewhere, count, "binding a memory window is not on the wire"},
    {irdma, "RdmaInv", elsewhere, count, "invalidating a local key is not on the wire"},
    {irdma, "ord limit count", elsewhere, count, "limits of a NIC are not on the wire"},
    {irdma, "ird limit count", elsewhere, count, "limits of a NIC are not on the wire"},
    {irdma, "rxVlanErrors", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InDiscards", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InTruncatedPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InReasmRqd", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InMcastOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip4InMcastPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip4OutOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip4OutPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip4OutSegRqd", elsewhere, count, kOtherTraffic},
    {irdma, "ip4OutMcastOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip4OutMcastPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip4OutNoRoutes", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InDiscards", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InTruncatedPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InReasmRqd", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InMcastOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip6InMcastPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip6OutOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip6OutPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip6OutSegRqd", elsewhere, count, kOtherTraffic},
    {irdma, "ip6OutMcastOctets", elsewhere, count, kOtherTraffic},
    {irdma, "ip6OutMcastPkts", elsewhere, count, kOtherTraffic},
    {irdma, "ip6OutNoRoutes", elsewhere, count, kOtherTraffic},
    {irdma, "RetransSegs", elsewhere, count, kIwarp},
    {irdma, "InOptErrors", elsewhere, count, kIwarp},
    {irdma, "InProtoErrors", elsewhere, count, kIwarp},
    {irdma, "InSegs", elsewhere, count, kIwarp},
    {irdma, "OutSegs", elsewhere, count, kIwarp},
});

/// Converts a name that older drivers used to the present one.
std::string_view present_name(NicVendor vendor, std::string_view name) {
  if (vendor == mlx5 && name.starts_with("vport_")) name.remove_prefix(6);
  if (vendor == irdma && (name.starts_with("iwIn") || name.starts_with("iwOut") || name.starts_with("iwRdma"))) {
    name.remove_prefix(2);
  }
  if (vendor == irdma && name.starts_with("tcp")) name.remove_prefix(3);
  return name;
}

}  // namespace

std::string_view to_string(NicVendor vendor) {
  switch (vendor) {
    case NicVendor::mlx5:
      return "mlx5";
    case NicVendor::rxe:
      return "rxe";
    case NicVendor::irdma:
      break;
  }
  return "irdma";
}

std::span<const NicCounter> nic_counters() {
  return kCounters;
}

const NicCounter* find_nic_counter(NicVendor vendor, std::string_view name) {
  name = present_name(vendor, name);
  const auto found = std::find_if(kCounters.begin(), kCounters.end(), [&](const NicCounter& counter) {
    return counter.vendor == vendor && counter.name == name;
  });
  return found == kCounters.end() ? nullptr : &*found;
}

std::optional<NicVendor> vendor_of(std::span<const std::string_view> names) {
  std::optional<NicVendor> best;
  std::ptrdiff_t most = 0;
  for (const NicVendor vendor : kNicVendors) {
    const auto known = std::count_if(names.begin(), names.end(),
                                     [&](std::string_view name) { return find_nic_counter(vendor, name) != nullptr; });
    if (known > most) {
      most = known;
      best = vendor;
    }
  }
  return best;
}

Figure figure(const HostCounts& host, const NicCounter& counter) {
  if (counter.reading == Reading::elsewhere) return {0, 0, Certainty::unknowable};
  Figure figure = host.figure(counter.fact);
  if (counter.reading != Reading::same) figure.certainty = Certainty::inferred;
  if (counter.reading == Reading::at_most) figure.least = 0;
  return figure;
}

}  // namespace roce::analyze
