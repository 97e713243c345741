// SPDX-License-Identifier: BSD-2-Clause
// docs/libroce.md shows this file from the line after the next on; guide_test compares them.
#pragma once
// --- two endpoints
#include <roce/live/run_script.h>

#include <algorithm>
#include <latch>
#include <optional>
#include <string>
#include <thread>

namespace live = roce::live;
using roce::ServiceId;

/// Takes one connection and one message; counts `ready` down once it listens.
inline live::Task<> listen(live::RdmaCm& cm, std::uint16_t port, std::string& text, std::latch& ready) {
  std::optional<roce::CommId> asked;
  const ServiceId service{roce::PortSpace::tcp, port};
  const auto listens = cm.listen(service, [&](roce::CommId id, roce::Time) { asked = id; });
  ready.count_down();
  if (!listens) throw live::ScriptFailure(listens.error().message);
  co_await live::until([&] { return asked.has_value(); });
  live::Domain domain{cm.endpoint().device()};
  live::Memory memory{domain, 256};
  live::QueuePair qp{cm.endpoint(), domain, {}};
  live::CmConnection connection{cm, *asked};
  const roce::Time now = co_await live::this_time{};
  prepare(qp, now);
  qp.post_receive(0, memory.sge(0, 256));
  connection.accept(qp.qpn(), 1, 7, now);
  co_await connection.established(qp);
  co_await live::until([&] { return qp.has_received() || connection.is_over(); });
  const std::size_t length = qp.take_received().byte_length;
  for (const std::byte byte : memory.bytes(0, length)) text += static_cast<char>(byte);
  co_await live::until([&] { return connection.is_over(); });
}

/// Connects and sends one message.
inline live::Task<> say(live::RdmaCm& cm, live::ConnectPlan plan, std::string_view text) {
  live::Domain domain{cm.endpoint().device()};
  live::Memory memory{domain, text.size()};
  std::ranges::copy(std::as_bytes(std::span{text}), memory.bytes().begin());
  live::QueuePair qp{cm.endpoint(), domain, {}};
  live::CmConnection connection{cm};
  prepare(qp, co_await live::this_time{});
  co_await connection.connect(qp.qpn(), plan);
  const roce::transport::Sge sge = memory.sge(0, text.size());
  qp.post_send({.sges = {&sge, 1}});
  co_await connection.sent(qp);
  co_await connection.disconnect();
}

/// Runs a script to its end on an endpoint, and lets its last packets out. Returns why it failed.
inline std::string run_on(live::Endpoint& endpoint, const std::function<live::Task<>(live::RdmaCm&)>& make) {
  const auto cm = live::RdmaCm::open(endpoint);
  if (!cm) return cm.error().message;
  const auto ran = run_script(**cm, make(**cm));
  (*cm)->step(endpoint.now());
  endpoint.driver().settle(endpoint.now() + std::chrono::milliseconds{100});
  return ran ? "" : ran.error().message;
}

/// Has `from` send a text to `to`, each in a thread of its own; returns the text that came, or what went wrong.
inline std::string say_between(live::Endpoint& from, live::Endpoint& to, std::string_view text) {
  std::string got;
  std::string failure;
  std::latch ready{1};
  std::thread listener{[&] { failure = run_on(to, [&](live::RdmaCm& cm) { return listen(cm, 7471, got, ready); }); }};
  ready.wait();
  const live::ConnectPlan plan{.to = to.gid(), .port = 7471};
  const std::string refused = run_on(from, [&](live::RdmaCm& cm) { return say(cm, plan, text); });
  if (!refused.empty()) to.driver().post([&to] { to.driver().stop(); });
  listener.join();
  return refused.empty() && failure.empty() ? got : refused + failure;
}
// --- end
