// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/reth.h"
#include "transport/device_state.h"

namespace roce::transport::detail {

/// The reason why a request is not executed.
struct Refusal {
  NakCode code = NakCode::invalid_request;
  /// The completion status of the receive that the request would have used, if it took one.
  CompletionStatus receive_status = CompletionStatus::success;
};

/// How the execution of a request went.
enum class Execution : std::uint8_t {
  done,
  refused,    ///< answer with `Refusal` and go to ERR
  not_ready,  ///< answer with an RNR NAK
  failed,     ///< go to ERR without an answer
  dropped,    ///< no room for a response: treat the request as lost
};

struct Request {
  const Packet& packet;
  const Bth& bth;
  const OpcodeInfo& info;
  Refusal refusal{};

  Execution refuse(NakCode code, CompletionStatus receive_status = CompletionStatus::success) {
    refusal = {code, receive_status};
    return Execution::refused;
  }
};

/// True if a request names memory that its key does not open, whatever the rights.
[[nodiscard]] inline bool names_wrong_key(const DeviceState& device, const Qp& qp, const Packet& packet) {
  const std::optional<Reth> reth = packet.get<Reth>();
  return reth && device.memory.remote(reth->r_key, qp.pd, qp.qpn, reth->virtual_address, reth->dma_length,
                                      Access::none) == nullptr;
}

/// Checks a request that has come in its turn, and executes it. The checks, in this order: order of opcodes, rights of
/// the QP, resources, length, key (IBTA vol. 1, 9.7.4). A response that is more than an ACK is queued.
[[nodiscard]] Execution execute(DeviceState& device, Qp& qp, Request& request);

}  // namespace roce::transport::detail
