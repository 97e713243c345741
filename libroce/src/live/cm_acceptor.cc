// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/cm_acceptor.h"

#include <algorithm>

namespace roce::live {

CmAcceptor::~CmAcceptor() {
  for (const auto& [service, waiting] : ports_) cm_.stop_listening(service);
}

void CmAcceptor::enqueue(ServiceId service, const Waiting& waiting) {
  if (!ports_.contains(service)) {
    const Result<void> listened = cm_.listen(service, [this, service](CommId id, Time now) { take(service, id, now); });
    if (!listened) throw ScriptFailure(listened.error().message);
  }
  ports_[service].push_back(waiting);
}

void CmAcceptor::accept(Qpn qp, std::uint16_t port, const Terms& terms) {
  const transport::QpAttributes attributes = granted(cm_.endpoint().device().query_qp(qp), "look at the queue pair");
  const bool is_datagram = attributes.type == transport::QpType::ud;
  const transport::QpState needed = is_datagram ? transport::QpState::rts : transport::QpState::init;
  if (state(qp) != State::none || attributes.state != needed) {
    throw ScriptFailure("the queue pair is connected, or waits for it");
  }
  enqueue(ServiceId{is_datagram ? PortSpace::udp : PortSpace::tcp, port}, {.qp = qp, .terms = terms});
}

void CmAcceptor::refuse(std::uint16_t port) {
  enqueue(ServiceId{PortSpace::tcp, port}, {});
}

void CmAcceptor::forget(Qpn qp) {
  connections_.erase(qp);
  resolved_.erase(qp);
  for (auto it = ports_.begin(); it != ports_.end();) {
    std::erase_if(it->second, [qp](const Waiting& waiting) { return waiting.qp == qp; });
    if (it->second.empty()) {
      cm_.stop_listening(it->first);
      it = ports_.erase(it);
    } else {
      ++it;
    }
  }
}

CmAcceptor::State CmAcceptor::state(Qpn qp) const {
  if (const auto found = connections_.find(qp); found != connections_.end()) {
    return found->second->is_over() ? State::over : State::connected;
  }
  if (resolved_.contains(qp)) return State::connected;
  const bool waits = std::ranges::any_of(ports_, [qp](const auto& port) {
    return std::ranges::any_of(port.second, [qp](const Waiting& waiting) { return waiting.qp == qp; });
  });
  return waits ? State::waiting : State::none;
}

void CmAcceptor::take(ServiceId service, CommId id, Time now) {
  std::deque<Waiting>& queue = ports_.at(service);
  const Waiting waiting = queue.front();
  queue.pop_front();
  // When nothing waits at a port any more, we stop listening there.
  if (queue.empty()) {
    cm_.stop_listening(service);
    ports_.erase(service);
  }
  if (!waiting.qp) {
    (void)cm_.manager().reject(id, {.reason = CmRejReason::consumer_defined}, now);
  } else if (service.port_space() == PortSpace::udp) {
    if (cm_.manager().answer(id, {.qpn = *waiting.qp, .q_key = waiting.terms.q_key}, now))
      resolved_.insert(*waiting.qp);
  } else {
    connect(waiting, id, now);
  }
}

void CmAcceptor::connect(const Waiting& waiting, CommId id, Time now) {
  auto connection = std::make_unique<CmConnection>(cm_, id);
  try {
    connection->accept(*waiting.qp, waiting.terms.rd_atomic, waiting.terms.rnr_retry, now);
  } catch (const ScriptFailure&) {
    // The destructor of `connection` tells the peer. The queue pair no longer waits, which its owner can see.
    return;
  }
  connections_[*waiting.qp] = std::move(connection);
}

}  // namespace roce::live
