// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/counters.h"

namespace roce::transport {
namespace {

// A vendor's name stands only where its counter counts the same thing. Soft-RoCE's `completer_retry_err` counts
// restarts and not packets, and its `ack_deferred` answers that its requester looks at later: they have no row.
constexpr std::array kNames{
    CounterName{&Counters::sent_packets, "sent_packets", "sent_pkts", "rdma_tx_packets"},
    CounterName{&Counters::sent_bytes, "sent_bytes", "", "rdma_tx_bytes"},
    CounterName{&Counters::received_packets, "received_packets", "rcvd_pkts", "rdma_rx_packets"},
    CounterName{&Counters::received_bytes, "received_bytes", "", "rdma_rx_bytes"},
    CounterName{&Counters::sends_posted, "sends_posted", "rdma_sends", ""},
    CounterName{&Counters::sends_received, "sends_received", "rdma_recvs", ""},

    CounterName{&Counters::write_requests, "write_requests", "", "rx_write_requests"},
    CounterName{&Counters::read_requests, "read_requests", "", "rx_read_requests"},
    CounterName{&Counters::atomic_requests, "atomic_requests", "", "rx_atomic_requests"},
    CounterName{&Counters::duplicate_requests, "duplicate_requests", "duplicate_request", "duplicate_request"},
    CounterName{&Counters::out_of_sequence, "out_of_sequence", "out_of_seq_request", "out_of_sequence"},
    CounterName{&Counters::out_of_buffer, "out_of_buffer", "", "out_of_buffer"},
    CounterName{&Counters::rnr_naks_sent, "rnr_naks_sent", "send_rnr_err", ""},
    CounterName{&Counters::acks_deferred, "acks_deferred", "", ""},
    CounterName{&Counters::local_length_errors, "local_length_errors", "", "resp_local_length_error"},
    CounterName{&Counters::responder_access_errors, "responder_access_errors", "", "resp_remote_access_errors"},
    CounterName{&Counters::responder_cqe_errors, "responder_cqe_errors", "", "resp_cqe_error"},
    CounterName{&Counters::responder_cqe_flushed, "responder_cqe_flushed", "", "resp_cqe_flush_error"},

    CounterName{&Counters::rnr_naks_received, "rnr_naks_received", "rcvd_rnr_err", "rnr_nak_retry_err"},
    CounterName{&Counters::sequence_naks_received, "sequence_naks_received", "rcvd_seq_err", "packet_seq_err"},
    CounterName{&Counters::implied_naks, "implied_naks", "", "implied_nak_seq_err"},
    CounterName{&Counters::timeouts, "timeouts", "", "local_ack_timeout_err"},
    CounterName{&Counters::retransmitted_packets, "retransmitted_packets", "", ""},
    CounterName{&Counters::retries_exceeded, "retries_exceeded", "retry_exceeded_err",
                "req_transport_retries_exceeded"},
    CounterName{&Counters::rnr_retries_exceeded, "rnr_retries_exceeded", "retry_rnr_exceeded_err",
                "req_rnr_retries_exceeded"},
    CounterName{&Counters::remote_access_errors, "remote_access_errors", "", "req_remote_access_errors"},
    CounterName{&Counters::remote_invalid_requests, "remote_invalid_requests", "", "req_remote_invalid_request"},
    CounterName{&Counters::remote_operation_errors, "remote_operation_errors", "", ""},
    CounterName{&Counters::requester_cqe_errors, "requester_cqe_errors", "", "req_cqe_error"},
    CounterName{&Counters::requester_cqe_flushed, "requester_cqe_flushed", "", "req_cqe_flush_error"},

    CounterName{&Counters::ce_received, "ce_received", "", "np_ecn_marked_roce_packets"},
    CounterName{&Counters::cnps_sent, "cnps_sent", "", "np_cnp_sent"},
    CounterName{&Counters::cnps_handled, "cnps_handled", "", "rp_cnp_handled"},
    CounterName{&Counters::cnps_ignored, "cnps_ignored", "", "rp_cnp_ignored"},

    CounterName{&Counters::icrc_errors, "icrc_errors", "", "rx_icrc_encapsulated"},
    CounterName{&Counters::malformed, "malformed", "", ""},
    CounterName{&Counters::unknown_qp, "unknown_qp", "", ""},
    CounterName{&Counters::wrong_state, "wrong_state", "", ""},
    CounterName{&Counters::wrong_address, "wrong_address", "", ""},
    CounterName{&Counters::p_key_violations, "p_key_violations", "", ""},
    CounterName{&Counters::q_key_violations, "q_key_violations", "", ""},
    CounterName{&Counters::ghost_acks, "ghost_acks", "", ""},
};
static_assert(kNames.size() * sizeof(std::uint64_t) == sizeof(Counters), "every counter has a row");

}  // namespace

std::span<const CounterName> counter_names() {
  return kNames;
}

}  // namespace roce::transport
