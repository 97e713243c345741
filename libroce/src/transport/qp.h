// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "roce/transport/counters.h"
#include "roce/transport/hook.h"
#include "roce/transport/qp_attributes.h"
#include "transport/pacer.h"
#include "transport/path.h"
#include "transport/queues.h"
#include "transport/requester.h"
#include "transport/responder.h"

namespace roce::transport::detail {

/// Packets that a misbehaviour hook holds back.
struct Misbehaviour {
  struct Held {
    std::vector<std::byte> bytes;
    std::uint16_t ip_id = 0;
    Time due{};
    std::uint32_t behind = 0;  ///< number of packets that must go first
    Ah ah{};                   ///< the way of a datagram
  };
  static constexpr std::size_t kMaxHeld = 64;

  MisbehaviourHook* hook = nullptr;
  std::vector<Held> held;
};

/// A queue pair. The members that each packet needs come first and together: with 10,000 QPs each line is a cache miss.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of their use they are better off than by size.
struct alignas(64) Qp {
  Qpn qpn{};
  std::uint32_t slot = 0;
  QpState state = QpState::reset;
  std::uint8_t opcode_base = 0;   ///< service bits of its opcodes
  std::uint8_t xrceth_bytes = 0;  ///< size of the XRCETH of its requests, 0 if it is no XRC initiator
  PKey p_key{};
  std::uint32_t mtu = 0;
  std::uint32_t pd = 0;          ///< of an XRC target: that of `srq`
  std::uint32_t receive_pd = 0;  ///< PD of the receive buffers: the SRQ's, or the QP's own
  Qpn dest_qp{};
  Access access = Access::none;

  // Scheduling.
  std::uint32_t next_ready = 0;
  std::uint8_t ready_class = 0;
  bool queued = false;  ///< in a ready list
  bool waits_for_neighbour = false;
  bool respond_next = true;  ///< true: the responder's turn; false: the requester's

  std::unique_ptr<Pacer> pacer;
  std::unique_ptr<Misbehaviour> misbehaviour;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* receive_cq = nullptr;
  SharedReceiveQueue* srq = nullptr;  ///< of an XRC target: that of the last request

  QpInit init{};
  Duration timeout{0};  ///< 0: none

  Requester req;
  Responder resp;
  Path path{};
  Counters counters{};

  QpAttributes attributes{};

  // Congestion.
  bool cnp_sent_before = false;
  Time last_cnp{};
  std::uint32_t groups = 0;  ///< multicast attachments

  [[nodiscard]] bool is_datagram() const { return init.type == QpType::ud || init.type == QpType::gsi; }
  [[nodiscard]] bool is_xrc() const { return init.type == QpType::xrc_initiator || init.type == QpType::xrc_target; }
  [[nodiscard]] bool is_reliable() const { return init.type == QpType::rc || is_xrc(); }
  /// True in the states in which the QP takes requests and datagrams; an RC QP is never in SQE.
  [[nodiscard]] bool may_receive() const {
    return state == QpState::rtr || state == QpState::rts || state == QpState::sqd || state == QpState::sqe;
  }
  /// Returns the memory of a send request.
  [[nodiscard]] std::span<const Sge> memory_of(const SendWqe& wqe) const {
    return {req.sges.data() + req.slot(wqe) * init.max_send_sge, wqe.sge_count};
  }

  /// Fetches the members that a packet needs into the cache, ahead of use.
  void prefetch() const {
    constexpr std::size_t line = 64;
    constexpr std::size_t hot = 16 * line;
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    for (std::size_t offset = 0; offset < hot; offset += line) __builtin_prefetch(bytes + offset);
  }
  /// Fetches the request to be sent next into the cache; the QP itself should be there already.
  void prefetch_request() const {
    const std::uint32_t next = req.next & req.mask;
    __builtin_prefetch(req.ring.data() + next);
    __builtin_prefetch(req.sges.data() + std::size_t{next} * init.max_send_sge);
  }
};

/// Returns a QP as it is made: in RESET, with its queues. The objects that `init` refers to have to exist.
[[nodiscard]] Qp make_qp(const DeviceState& device, Qpn qpn, const QpInit& init);

}  // namespace roce::transport::detail
