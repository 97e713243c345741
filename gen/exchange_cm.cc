// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange_cm.h"

#include <fmt/format.h>

#include "gen/run_script.h"

namespace roce::gen {

namespace {

constexpr std::uint8_t kRdAtomic = 16;

Task<> ask(CmQuestion& question, Gid to, std::uint16_t port, CmSidrRep& found) {
  found = co_await question.resolve(to, port);
}

Task<> disconnect_all(const std::vector<std::unique_ptr<CmConnection>>& connections) {
  for (const std::unique_ptr<CmConnection>& connection : connections) co_await connection->disconnect();
}

}  // namespace

Outcome<void> ExchangeCm::accept_there(ControlClient& peer, Qpn remote) const {
  const Outcome<nlohmann::json> accepts =
      peer.call("accept_qp", {{"qp", remote.value()}, {"cm_port", options_.cm_port}, {"rd_atomic", kRdAtomic}});
  if (!accepts) return tl::unexpected(accepts.error());
  return {};
}

Outcome<void> ExchangeCm::connect(ControlClient& peer, const Gid& to, Qpn own, Qpn remote, std::uint32_t path_mtu) {
  if (Outcome<void> accepts = accept_there(peer, remote); !accepts) return accepts;
  ConnectPlan plan;
  plan.to = to;
  plan.port = options_.cm_port;
  plan.responder_resources = plan.initiator_depth = kRdAtomic;
  plan.traffic_class = options_.traffic_class;
  plan.path_mtu = path_mtu;
  connections_.push_back(std::make_unique<CmConnection>(cm_));
  CmConnection& connection = *connections_.back();
  if (Outcome<void> connected = run_script(cm_, connection.connect(own, plan)); !connected) return connected;
  if (connection.get() == nullptr) return failed("the peer ended the connection at once");
  const Qpn found = connection.get()->agreement().dest_qp;
  if (found == remote) return {};
  return failed(
      fmt::format("queue pair {} of another program answered at RDMA port {}, expected {}; choose another --cm",
                  found.value(), options_.cm_port, remote.value()));
}

Outcome<QKey> ExchangeCm::resolve(ControlClient& peer, const Gid& to, Qpn remote) {
  if (Outcome<void> accepts = accept_there(peer, remote); !accepts) return tl::unexpected(accepts.error());
  CmQuestion question{cm_};
  CmSidrRep found;
  if (Outcome<void> asked = run_script(cm_, ask(question, to, options_.cm_port, found)); !asked) {
    return tl::unexpected(asked.error());
  }
  if (found.qpn == remote) return found.q_key;
  return failed(
      fmt::format("queue pair {} of another program answered at RDMA port {}, expected {}; choose another --cm",
                  found.qpn.value(), options_.cm_port, remote.value()));
}

Outcome<void> ExchangeCm::disconnect() {
  return run_script(cm_, disconnect_all(connections_));
}

}  // namespace roce::gen
