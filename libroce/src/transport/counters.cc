// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/counters.h"

namespace roce::transport {
namespace {

// A vendor's name is given only if its counter counts the same thing. Soft-RoCE's `completer_retry_err` counts
// restarts, not packets, and its `ack_deferred` counts responses that its requester handles later: neither has a row.
constexpr std::array kNames{
    CounterName{&Counters::sent_packets, "sent_packets", "sent_pkts", "rdma_tx_packets",
                "Packets sent, those sent again too."},
    CounterName{&Counters::sent_bytes, "sent_bytes", "", "rdma_tx_bytes", "Bytes of packets sent, BTH through ICRC."},
    CounterName{&Counters::received_packets, "received_packets", "rcvd_pkts", "rdma_rx_packets",
                "Packets that reached a queue pair."},
    CounterName{&Counters::received_bytes, "received_bytes", "", "rdma_rx_bytes",
                "Bytes of packets that reached a queue pair, BTH through ICRC."},
    CounterName{&Counters::sends_posted, "sends_posted", "rdma_sends", "",
                "Requests posted to send queues, of all operations."},
    CounterName{&Counters::sends_received, "sends_received", "rdma_recvs", "", "SEND messages received."},

    CounterName{&Counters::write_requests, "write_requests", "", "rx_write_requests", "WRITE requests executed."},
    CounterName{&Counters::read_requests, "read_requests", "", "rx_read_requests", "READ requests executed."},
    CounterName{&Counters::atomic_requests, "atomic_requests", "", "rx_atomic_requests", "Atomic requests executed."},
    CounterName{&Counters::duplicate_requests, "duplicate_requests", "duplicate_request", "duplicate_request",
                "Requests that were executed before, and came again."},
    CounterName{&Counters::out_of_sequence, "out_of_sequence", "out_of_seq_request", "out_of_sequence",
                "Requests behind a gap in the PSNs."},
    CounterName{&Counters::out_of_buffer, "out_of_buffer", "", "out_of_buffer",
                "Requests that found no receive posted."},
    CounterName{&Counters::rnr_naks_sent, "rnr_naks_sent", "send_rnr_err", "", "RNR NAKs sent."},
    CounterName{&Counters::acks_deferred, "acks_deferred", "", "", "ACKs held back to go with a later one."},
    CounterName{&Counters::local_length_errors, "local_length_errors", "", "resp_local_length_error",
                "Messages longer than the receive posted for them."},
    CounterName{&Counters::responder_access_errors, "responder_access_errors", "", "resp_remote_access_errors",
                "Requests to memory or with rights that they do not have."},
    CounterName{&Counters::responder_cqe_errors, "responder_cqe_errors", "", "resp_cqe_error",
                "Completions of receives with an error."},
    CounterName{&Counters::responder_cqe_flushed, "responder_cqe_flushed", "", "resp_cqe_flush_error",
                "Receives flushed because the queue pair was in error."},

    CounterName{&Counters::rnr_naks_received, "rnr_naks_received", "rcvd_rnr_err", "rnr_nak_retry_err",
                "RNR NAKs received."},
    CounterName{&Counters::sequence_naks_received, "sequence_naks_received", "rcvd_seq_err", "packet_seq_err",
                "NAKs for a gap in the PSNs received."},
    CounterName{&Counters::implied_naks, "implied_naks", "", "implied_nak_seq_err",
                "Gaps noticed because an answer was to a later request."},
    CounterName{&Counters::timeouts, "timeouts", "", "local_ack_timeout_err", "ACK timeouts."},
    CounterName{&Counters::retransmitted_packets, "retransmitted_packets", "", "", "Packets sent again."},
    CounterName{&Counters::retries_exceeded, "retries_exceeded", "retry_exceeded_err", "req_transport_retries_exceeded",
                "Requests given up after all retries."},
    CounterName{&Counters::rnr_retries_exceeded, "rnr_retries_exceeded", "retry_rnr_exceeded_err",
                "req_rnr_retries_exceeded", "Requests given up after all RNR retries."},
    CounterName{&Counters::remote_access_errors, "remote_access_errors", "", "req_remote_access_errors",
                "Requests that the peer refused for memory or rights."},
    CounterName{&Counters::remote_invalid_requests, "remote_invalid_requests", "", "req_remote_invalid_request",
                "Requests that the peer called invalid."},
    CounterName{&Counters::remote_operation_errors, "remote_operation_errors", "", "",
                "Requests that the peer could not carry out."},
    CounterName{&Counters::requester_cqe_errors, "requester_cqe_errors", "", "req_cqe_error",
                "Completions of requests with an error."},
    CounterName{&Counters::requester_cqe_flushed, "requester_cqe_flushed", "", "req_cqe_flush_error",
                "Requests flushed because the queue pair was in error."},

    CounterName{&Counters::ce_received, "ce_received", "", "np_ecn_marked_roce_packets",
                "Packets received with congestion experienced (ECN CE)."},
    CounterName{&Counters::cnps_sent, "cnps_sent", "", "np_cnp_sent", "CNPs sent."},
    CounterName{&Counters::cnps_handled, "cnps_handled", "", "rp_cnp_handled", "CNPs received for a queue pair here."},
    CounterName{&Counters::cnps_ignored, "cnps_ignored", "", "rp_cnp_ignored",
                "CNPs not from the peer, or for a queue pair that sends nothing."},

    CounterName{&Counters::icrc_errors, "icrc_errors", "", "rx_icrc_encapsulated",
                "Packets dropped because their ICRC is wrong."},
    CounterName{&Counters::malformed, "malformed", "", "",
                "Packets dropped because they are cut short, not RoCE, in a tunnel, of an unknown opcode or version, "
                "or for nobody here."},
    CounterName{&Counters::wrong_mac, "wrong_mac", "", "",
                "RoCE frames dropped because their Ethernet destination is neither ours nor that of a group joined."},
    CounterName{&Counters::ip_options, "ip_options", "", "",
                "RoCE frames dropped because of IPv4 options or IPv6 extension headers."},
    CounterName{&Counters::ip_checksum_errors, "ip_checksum_errors", "", "",
                "RoCE frames dropped because the checksum of their IPv4 header is wrong."},
    CounterName{&Counters::unknown_qp, "unknown_qp", "", "", "Packets dropped because there is no such queue pair."},
    CounterName{&Counters::wrong_state, "wrong_state", "", "",
                "Packets dropped because state or type of the queue pair does not take them."},
    CounterName{&Counters::wrong_address, "wrong_address", "", "",
                "Packets dropped because they are not from or to the connection's addresses."},
    CounterName{&Counters::p_key_violations, "p_key_violations", "", "", "Packets dropped because of their P_Key."},
    CounterName{&Counters::q_key_violations, "q_key_violations", "", "", "Datagrams dropped because of their Q_Key."},
    CounterName{&Counters::ghost_acks, "ghost_acks", "", "", "Answers dropped because they are to nothing under way."},
};
static_assert(kNames.size() * sizeof(std::uint64_t) == sizeof(Counters), "every counter has a row");

}  // namespace

std::span<const CounterName> counter_names() {
  return kNames;
}

}  // namespace roce::transport
