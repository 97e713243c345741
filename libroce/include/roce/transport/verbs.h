// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "roce/transport/handle.h"
#include "roce/wire/feth.h"
#include "roce/wire/types.h"

namespace roce::transport {

/// The type of a queue pair. GSI is QP1, a datagram QP for management. The two ends of an XRC connection (IBTA vol. 1,
/// annex A14): the initiator sends requests, each for an SRQ of the peer, and the target serves them.
enum class QpType : std::uint8_t { rc, uc, ud, gsi, xrc_initiator, xrc_target };

/// States of a queue pair (IBTA vol. 1, 10.3.1). SQE exists for UC and UD only.
enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, err };

/// Access rights to memory; the bits are those of libibverbs.
enum class Access : std::uint32_t {
  none = 0,
  local_write = 1U << 0,
  remote_write = 1U << 1,
  remote_read = 1U << 2,
  remote_atomic = 1U << 3,
  mw_bind = 1U << 4,
  zero_based = 1U << 5,  ///< addresses count from the start of the region
  flush_global = 1U << 8,
  flush_persistent = 1U << 9,
};
[[nodiscard]] constexpr Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// True if `set` contains all bits of `needed`.
[[nodiscard]] constexpr bool allows(Access set, Access needed) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(needed)) == static_cast<std::uint32_t>(needed);
}

/// A piece of registered local memory.
struct Sge {
  std::uint64_t address = 0;  ///< in the region's address space
  std::uint32_t length = 0;   ///< bytes
  LKey l_key{};
};

/// The operation of a send work request.
enum class WorkOpcode : std::uint8_t {
  send,
  send_with_immediate,
  send_with_invalidate,
  write,
  write_with_immediate,
  read,
  compare_swap,
  fetch_add,
  atomic_write,
  flush,
  local_invalidate,
  bind_mw,
};

/// The remote memory that an RDMA operation acts on.
struct RemoteAddress {
  std::uint64_t address = 0;
  RKey r_key{};
};

/// The destination of a datagram.
struct DatagramAddress {
  Ah ah{};
  Qpn qpn{};
  QKey q_key{};  ///< with bit 31 set, the sending QP's own Q_Key is used instead
};

/// The binding that a BIND_MW request makes.
struct MwBinding {
  Mw mw{};
  Mr mr{};
  std::uint64_t address = 0;  ///< in the region's address space
  std::uint64_t length = 0;   ///< bytes; 0 unbinds
  Access access = Access::none;
  std::uint8_t variant = 0;  ///< low byte of the new R_Key of a type 2 window
};

/// The remote memory that FLUSH makes visible, and how far.
struct FlushTarget {
  std::uint32_t length = 0;  ///< bytes from `remote.address`
  bool whole_region = false;
  bool persistent = false;  ///< false: globally visible
};

/// A send work request. Only the members that the operation uses matter.
struct SendRequest {
  std::uint64_t wr_id = 0;  ///< returned in the completion
  WorkOpcode opcode = WorkOpcode::send;
  bool signaled = true;    ///< success makes a completion; an error always does
  bool fence = false;      ///< waits until all earlier READ and atomic requests are complete
  bool solicited = false;  ///< sets SE, which wakes a receiver that waits for solicited completions
  bool is_inline = false;  ///< `inline_data` replaces `sges`; the bytes are copied when posted

  /// Data to send, or the memory for the result of a READ or an atomic.
  /// The list is copied when posted; the memory has to stay until completion.
  std::span<const Sge> sges{};
  Bytes inline_data{};
  std::uint32_t immediate = 0;    ///< for operations with immediate; sent most significant byte first
  RKey invalidate{};              ///< remote key for SEND with invalidate, local key for LOCAL INVALIDATE
  RemoteAddress remote{};         ///< for RDMA, atomics, FLUSH
  XrcSrqn xrc_srq{};              ///< for an XRC initiator: the peer's SRQ, whose PD the remote memory is in, too
  std::uint64_t compare_add = 0;  ///< COMPARE SWAP: value compared with; FETCH ADD: value added
  std::uint64_t swap = 0;         ///< COMPARE SWAP: value written if equal
  FlushTarget flush{};
  DatagramAddress datagram{};  ///< for UD and GSI
  MwBinding bind{};
};

/// A receive work request. The list is copied when posted.
struct ReceiveRequest {
  std::uint64_t wr_id = 0;
  std::span<const Sge> sges{};  ///< on a datagram QP the first 40 bytes hold the network header
};

/// The outcome of a work request; the numbers are those of libibverbs.
enum class CompletionStatus : std::uint8_t {
  success = 0,
  local_length_error = 1,
  local_qp_operation_error = 2,
  local_eec_operation_error = 3,
  local_protection_error = 4,
  flushed = 5,
  mw_bind_error = 6,
  bad_response = 7,
  local_access_error = 8,
  remote_invalid_request = 9,
  remote_access_error = 10,
  remote_operation_error = 11,
  retry_exceeded = 12,
  rnr_retry_exceeded = 13,
  local_rdd_violation = 14,
  remote_invalid_rd_request = 15,
  remote_aborted = 16,
  invalid_eecn = 17,
  invalid_eec_state = 18,
  fatal = 19,
  response_timeout = 20,
  general_error = 21,
};
/// Returns `success`, `local length error` …
[[nodiscard]] std::string_view to_string(CompletionStatus status);
/// Returns `RESET`, `INIT` …
[[nodiscard]] std::string_view to_string(QpState state);
[[nodiscard]] std::string_view to_string(QpType type);
[[nodiscard]] std::string_view to_string(WorkOpcode opcode);

/// The kind of work request that completed.
enum class CompletionOpcode : std::uint8_t {
  send,
  write,
  read,
  compare_swap,
  fetch_add,
  atomic_write,
  flush,
  local_invalidate,
  bind_mw,
  receive,
  receive_write_with_immediate,
};
[[nodiscard]] std::string_view to_string(CompletionOpcode opcode);

/// A finished work request. If `status` is an error, only `wr_id`, `status`, `qpn` and `syndrome` are meaningful.
struct Completion {
  std::uint64_t wr_id = 0;
  CompletionStatus status = CompletionStatus::success;
  CompletionOpcode opcode = CompletionOpcode::send;
  std::uint8_t syndrome = 0;        ///< the AETH syndrome that caused an error, or 0
  bool has_network_header = false;  ///< the buffer begins with the 40-byte area of a datagram
  bool has_immediate = false;
  bool has_invalidated = false;
  std::uint32_t byte_length = 0;  ///< bytes received or read; for WRITE with immediate, bytes written
  std::uint32_t immediate = 0;
  RKey invalidated{};
  Qpn qpn{};                       ///< the local QP
  Qpn source_qp{};                 ///< for datagrams
  std::uint16_t p_key_index = 0;   ///< for datagrams
  std::uint8_t service_level = 0;  ///< for datagrams

  friend bool operator==(const Completion&, const Completion&) = default;
};

/// An asynchronous event, as opposed to a completion (IBTA vol. 1, 11.6.3).
enum class EventType : std::uint8_t {
  cq_ready,                   ///< an armed CQ received a completion that it was armed for
  cq_overflow,                ///< a completion found the CQ full; the QPs of the CQ go to ERR
  communication_established,  ///< the first packet arrived in RTR
  sq_drained,
  qp_fatal,          ///< the QP went to ERR, and no work request could report why
  qp_request_error,  ///< the responder refused a request
  qp_access_error,   ///< the responder refused an access
  last_wqe_reached,  ///< a QP in ERR will take no more receives from its SRQ
  srq_limit,         ///< fewer receives than the limit are left
  neighbour_wanted,  ///< the MAC address of `gid` is needed: `Device::set_neighbour`
};
[[nodiscard]] std::string_view to_string(EventType type);

struct Event {
  EventType type{};
  Qpn qpn{};  ///< for events of QPs
  Cq cq{};
  Srq srq{};
  Gid gid{};                               ///< for neighbour_wanted
  std::optional<std::uint16_t> vlan_id{};  ///< for neighbour_wanted
};

}  // namespace roce::transport
