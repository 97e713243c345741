// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/verbs.h"

namespace roce::transport {
namespace {

constexpr std::string_view kUnknown = "unknown";

}  // namespace

std::string_view to_string(CompletionStatus status) {
  switch (status) {
    case CompletionStatus::success:
      return "success";
    case CompletionStatus::local_length_error:
      return "local length error";
    case CompletionStatus::local_qp_operation_error:
      return "local QP operation error";
    case CompletionStatus::local_eec_operation_error:
      return "local EE context operation error";
    case CompletionStatus::local_protection_error:
      return "local protection error";
    case CompletionStatus::flushed:
      return "work request flushed error";
    case CompletionStatus::mw_bind_error:
      return "memory window bind error";
    case CompletionStatus::bad_response:
      return "bad response error";
    case CompletionStatus::local_access_error:
      return "local access error";
    case CompletionStatus::remote_invalid_request:
      return "remote invalid request error";
    case CompletionStatus::remote_access_error:
      return "remote access error";
    case CompletionStatus::remote_operation_error:
      return "remote operation error";
    case CompletionStatus::retry_exceeded:
      return "transport retry counter exceeded";
    case CompletionStatus::rnr_retry_exceeded:
      return "RNR retry counter exceeded";
    case CompletionStatus::local_rdd_violation:
      return "local RDD violation error";
    case CompletionStatus::remote_invalid_rd_request:
      return "remote invalid RD request";
    case CompletionStatus::remote_aborted:
      return "remote aborted error";
    case CompletionStatus::invalid_eecn:
      return "invalid EE context number";
    case CompletionStatus::invalid_eec_state:
      return "invalid EE context state";
    case CompletionStatus::fatal:
      return "fatal error";
    case CompletionStatus::response_timeout:
      return "response timeout error";
    case CompletionStatus::general_error:
      return "general error";
  }
  return kUnknown;
}

std::string_view to_string(QpState state) {
  switch (state) {
    case QpState::reset:
      return "RESET";
    case QpState::init:
      return "INIT";
    case QpState::rtr:
      return "RTR";
    case QpState::rts:
      return "RTS";
    case QpState::sqd:
      return "SQD";
    case QpState::sqe:
      return "SQE";
    case QpState::err:
      return "ERR";
  }
  return kUnknown;
}

std::string_view to_string(QpType type) {
  switch (type) {
    case QpType::rc:
      return "RC";
    case QpType::uc:
      return "UC";
    case QpType::ud:
      return "UD";
    case QpType::gsi:
      return "GSI";
    case QpType::xrc_initiator:
      return "XRC initiator";
    case QpType::xrc_target:
      return "XRC target";
  }
  return kUnknown;
}

std::string_view to_string(WorkOpcode opcode) {
  switch (opcode) {
    case WorkOpcode::send:
      return "SEND";
    case WorkOpcode::send_with_immediate:
      return "SEND with immediate";
    case WorkOpcode::send_with_invalidate:
      return "SEND with invalidate";
    case WorkOpcode::write:
      return "RDMA WRITE";
    case WorkOpcode::write_with_immediate:
      return "RDMA WRITE with immediate";
    case WorkOpcode::read:
      return "RDMA READ";
    case WorkOpcode::compare_swap:
      return "compare and swap";
    case WorkOpcode::fetch_add:
      return "fetch and add";
    case WorkOpcode::atomic_write:
      return "ATOMIC WRITE";
    case WorkOpcode::flush:
      return "FLUSH";
    case WorkOpcode::local_invalidate:
      return "local invalidate";
    case WorkOpcode::bind_mw:
      return "bind memory window";
  }
  return kUnknown;
}

std::string_view to_string(CompletionOpcode opcode) {
  switch (opcode) {
    case CompletionOpcode::send:
      return "SEND";
    case CompletionOpcode::write:
      return "RDMA WRITE";
    case CompletionOpcode::read:
      return "RDMA READ";
    case CompletionOpcode::compare_swap:
      return "compare and swap";
    case CompletionOpcode::fetch_add:
      return "fetch and add";
    case CompletionOpcode::atomic_write:
      return "ATOMIC WRITE";
    case CompletionOpcode::flush:
      return "FLUSH";
    case CompletionOpcode::local_invalidate:
      return "local invalidate";
    case CompletionOpcode::bind_mw:
      return "bind memory window";
    case CompletionOpcode::receive:
      return "receive";
    case CompletionOpcode::receive_write_with_immediate:
      return "receive of RDMA WRITE with immediate";
  }
  return kUnknown;
}

std::string_view to_string(EventType type) {
  switch (type) {
    case EventType::cq_ready:
      return "CQ ready";
    case EventType::cq_overflow:
      return "CQ overflow";
    case EventType::communication_established:
      return "communication established";
    case EventType::sq_drained:
      return "send queue drained";
    case EventType::qp_fatal:
      return "local work queue catastrophic error";
    case EventType::qp_request_error:
      return "invalid request local work queue error";
    case EventType::qp_access_error:
      return "local access violation work queue error";
    case EventType::last_wqe_reached:
      return "last WQE reached";
    case EventType::srq_limit:
      return "SRQ limit reached";
    case EventType::neighbour_wanted:
      return "neighbour wanted";
  }
  return kUnknown;
}

}  // namespace roce::transport
