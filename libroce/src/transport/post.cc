// SPDX-License-Identifier: BSD-2-Clause
// Posting work requests: every error in a request is found before anything is queued, unless the profile checks late.
#include <algorithm>
#include <cstring>
#include <optional>

#include "roce/wire/constants.h"
#include "transport/completion.h"
#include "transport/device_state.h"
#include "transport/flush.h"
#include "transport/refusal.h"
#include "transport/scheduler.h"

namespace roce::transport {

namespace detail {
namespace {

constexpr std::uint32_t kMaxReadPackets = (1U << 23) - 1;
constexpr std::uint32_t kAtomicSize = 8;

// QP-20 (the operations of each QP type)
[[nodiscard]] bool type_allows(QpType type, WorkOpcode opcode) {
  switch (type) {
    case QpType::rc:
    case QpType::xrc_initiator:
      return true;
    case QpType::uc:
      return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate || opcode == WorkOpcode::write ||
             opcode == WorkOpcode::write_with_immediate || opcode == WorkOpcode::local_invalidate ||
             opcode == WorkOpcode::bind_mw;
    case QpType::ud:
    case QpType::gsi:
      return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate;
    case QpType::xrc_target:
      return false;
  }
  return false;
}

/// Returns the message's length in bytes, or why the request cannot be queued.
[[nodiscard]] VerbResult<std::uint64_t> message_length(const Qp& qp, const SendRequest& request) {
  if (request.is_inline) {
    const bool sends_data = request.opcode != WorkOpcode::read && request.opcode != WorkOpcode::compare_swap &&
                            request.opcode != WorkOpcode::fetch_add;
    if (!sends_data) {
      return invalid("is_inline", "an operation that sends data", static_cast<std::uint64_t>(request.opcode));
    }
    if (request.inline_data.size() > qp.init.max_inline) {
      return invalid("inline_data", "at most max_inline bytes", request.inline_data.size(), qp.init.max_inline);
    }
    return request.inline_data.size();
  }
  if (request.sges.size() > qp.init.max_send_sge) {
    return invalid("sges", "at most max_send_sge", request.sges.size(), qp.init.max_send_sge);
  }
  std::uint64_t length = 0;
  for (const Sge& sge : request.sges) length += sge.length;
  return length;
}

/// The reason why a request fails that is queued.
struct Unsendable {
  VerbError error;          ///< if it is refused when it is posted
  CompletionStatus status;  ///< if it fails in its turn (`Profile::late_checks`)
};

/// Returns why no packet can carry a request of `length` bytes (QP-19: limits of lengths).
[[nodiscard]] std::optional<Unsendable> unsendable(const Qp& qp, const SendRequest& request, std::uint64_t length) {
  if (!type_allows(qp.init.type, request.opcode)) {
    return Unsendable{{VerbErrorCode::wrong_type, "opcode", "an operation of the QP's type",
                       static_cast<std::uint64_t>(request.opcode), 0},
                      CompletionStatus::local_qp_operation_error};
  }
  const auto wrong_length = [](std::string_view needs, std::uint64_t found, std::uint64_t expected) {
    return Unsendable{{VerbErrorCode::invalid_argument, "sges", needs, found, expected},
                      CompletionStatus::local_length_error};
  };
  if (length > kMaxMessage) return wrong_length("at most 2^31 bytes together", length, kMaxMessage);
  switch (request.opcode) {
    case WorkOpcode::compare_swap:
    case WorkOpcode::fetch_add:
    case WorkOpcode::atomic_write:
      if (length != kAtomicSize) return wrong_length("exactly 8 bytes for an atomic", length, kAtomicSize);
      break;
    case WorkOpcode::read:
      if (const std::uint64_t packets = (length + qp.mtu - 1) / qp.mtu; packets > kMaxReadPackets) {
        return wrong_length("a READ of at most 2^23-1 packets", packets, kMaxReadPackets);
      }
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// Returns why the peer would refuse the request, or why its address is unknown.
[[nodiscard]] VerbResult<void> check_target(const DeviceState& device, const Qp& qp, const SendRequest& request) {
  if (device.profile().late_checks) return {};
  const bool is_atomic = request.opcode == WorkOpcode::compare_swap || request.opcode == WorkOpcode::fetch_add ||
                         request.opcode == WorkOpcode::atomic_write;
  if (is_atomic && request.remote.address % kAtomicSize != 0) {
    return invalid("remote.address", "a multiple of 8 for an atomic", request.remote.address, kAtomicSize);
  }
  if (qp.is_datagram()) {
    const AddressHandle* ah = device.ahs.find(request.datagram.ah);
    if (ah == nullptr) {
      return refuse(VerbErrorCode::unknown_handle, "datagram.ah", "an address handle of this device",
                    request.datagram.ah.index);
    }
    if (ah->pd != qp.pd) {
      return invalid("datagram.ah", "an address handle of the QP's PD", request.datagram.ah.index);
    }
  }
  return {};
}

[[nodiscard]] VerbResult<void> check_receive(const ReceiveQueue& queue, const ReceiveRequest& request) {
  if (request.sges.size() > queue.max_sge()) {
    return invalid("sges", "at most max_receive_sge", request.sges.size(), queue.max_sge());
  }
  if (queue.full()) {
    return refuse(VerbErrorCode::no_resources, "receive queue", "a completion first, at most", queue.size(),
                  queue.capacity());
  }
  return {};
}

}  // namespace
}  // namespace detail

using namespace detail;

VerbResult<void> Device::post_send(Qpn qpn, const SendRequest& request) {
  DeviceState& device = *state_;
  Qp* qp = device.find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->init.type == QpType::xrc_target) {
    return refuse(VerbErrorCode::wrong_type, "qp", "a QP that sends requests",
                  static_cast<std::uint64_t>(qp->init.type));
  }
  // QP-07 (sends may be posted from RTS on)
  if (qp->state != QpState::rts && qp->state != QpState::sqd && qp->state != QpState::sqe &&
      qp->state != QpState::err) {
    return refuse(VerbErrorCode::wrong_state, "qp.state", "RTS, SQD, SQE or ERR (modify_qp first), not",
                  static_cast<std::uint64_t>(qp->state));
  }
  const VerbResult<std::uint64_t> length = message_length(*qp, request);
  if (!length) return tl::unexpected(length.error());
  const std::optional<Unsendable> wrong = unsendable(*qp, request, *length);
  if (wrong && !device.profile().late_checks) return tl::unexpected(wrong->error);
  const bool is_rd_atomic = request.opcode == WorkOpcode::read || request.opcode == WorkOpcode::compare_swap ||
                            request.opcode == WorkOpcode::fetch_add || request.opcode == WorkOpcode::atomic_write;
  if (is_rd_atomic && !wrong && qp->attributes.max_rd_atomic == 0) {
    return invalid("max_rd_atomic", "at least 1 for READs and atomics", 0, 1);
  }
  if (VerbResult<void> checked = check_target(device, *qp, request); !checked) return checked;
  Requester& req = qp->req;
  if (req.tail - req.head >= qp->init.max_send) {
    return refuse(VerbErrorCode::no_resources, "send queue", "a completion first, at most max_send",
                  req.tail - req.head, qp->init.max_send);
  }
  const std::uint32_t index = req.tail;
  const std::size_t slot = index & req.mask;
  SendWqe& wqe = req.ring[slot];
  wqe.wr_id = request.wr_id;
  wqe.opcode = request.opcode;
  wqe.length = static_cast<std::uint32_t>(*length);
  wqe.signaled = request.signaled || qp->init.signal_all;
  wqe.fence = request.fence;
  wqe.solicited = request.solicited;
  wqe.is_inline = request.is_inline;
  wqe.done = false;
  wqe.status = CompletionStatus::success;
  wqe.remote_address = request.remote.address;
  wqe.r_key = request.remote.r_key;
  wqe.sge_count = static_cast<std::uint8_t>(request.is_inline ? 0 : request.sges.size());
  wqe.psn_count = 1;
  switch (request.opcode) {
    case WorkOpcode::send_with_invalidate:
    case WorkOpcode::local_invalidate:
      wqe.immediate = request.invalidate.value();
      break;
    case WorkOpcode::compare_swap:
    case WorkOpcode::fetch_add:
      req.extra[slot].compare_add = request.compare_add;
      req.extra[slot].swap = request.swap;
      break;
    case WorkOpcode::flush:
      req.extra[slot].flush = request.flush;
      break;
    case WorkOpcode::bind_mw:
      req.extra[slot].bind = request.bind;
      break;
    default:
      wqe.immediate = request.immediate;
      break;
  }
  if (qp->xrceth_bytes != 0) req.extra[slot].xrc_srq = request.xrc_srq;
  if (wrong) wqe.fail(wrong->status);
  if (wqe.is_local() || wrong) {
    wqe.psn_count = 0;
  } else {
    wqe.ssn = req.next_ssn;
    ++req.next_ssn;
    if (qp->is_datagram()) {
      req.extra[slot].datagram = request.datagram;
    } else if (*length > qp->mtu) {
      wqe.psn_count = static_cast<std::uint32_t>((*length + qp->mtu - 1) / qp->mtu);
    }
  }
  if (request.is_inline) {
    if (!request.inline_data.empty()) {
      std::memcpy(req.inline_data.data() + slot * qp->init.max_inline, request.inline_data.data(),
                  request.inline_data.size());
    }
  } else {
    std::copy(request.sges.begin(), request.sges.end(),
              req.sges.begin() + static_cast<std::ptrdiff_t>(slot * qp->init.max_send_sge));
  }
  ++req.tail;
  ++qp->counters.sends_posted;
  if (qp->state == QpState::err || qp->state == QpState::sqe) {
    while (req.head != req.tail) complete_send(device, *qp, CompletionStatus::flushed);
    settle_overflows(device);
    return {};
  }
  make_ready(device, *qp);
  return {};
}

VerbResult<void> Device::post_receive(Qpn qpn, const ReceiveRequest& request) {
  DeviceState& device = *state_;
  Qp* qp = device.find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->srq != nullptr || qp->is_xrc()) {
    return refuse(VerbErrorCode::wrong_type, "qp", "a QP without an SRQ (post_srq_receive)", qpn.value());
  }
  // QP-07 (receives may be posted from INIT on)
  if (qp->state == QpState::reset) {
    return refuse(VerbErrorCode::wrong_state, "qp.state", "INIT or later (modify_qp first), not",
                  static_cast<std::uint64_t>(qp->state));
  }
  if (VerbResult<void> checked = check_receive(qp->resp.queue, request); !checked) return checked;
  qp->resp.queue.push(request);
  if (qp->state == QpState::err) {
    enter_error(device, *qp, true);
    settle_overflows(device);
  }
  return {};
}

VerbResult<void> Device::post_srq_receive(Srq handle, const ReceiveRequest& request) {
  VerbResult<SharedReceiveQueue*> srq = state_->srqs.get(handle);
  if (!srq) return tl::unexpected(srq.error());
  if (VerbResult<void> checked = check_receive((*srq)->queue, request); !checked) return checked;
  (*srq)->queue.push(request);
  return {};
}

}  // namespace roce::transport
