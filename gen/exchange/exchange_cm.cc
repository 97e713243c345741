// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange_cm.h"

#include <fmt/format.h>

#include "roce/live/run_script.h"

namespace roce::gen {

namespace {

constexpr std::uint8_t kRdAtomic = 16;

live::Task<> ask(live::CmQuestion& question, Gid to, std::uint16_t port, CmSidrRep& found) {
  found = co_await question.resolve(to, port);
}

live::Task<> disconnect_all(const std::vector<std::unique_ptr<live::CmConnection>>& connections) {
  for (const std::unique_ptr<live::CmConnection>& connection : connections) co_await connection->disconnect();
}

}  // namespace

Outcome<void> ExchangeCm::accept_there(live::ControlClient& peer, Qpn remote) const {
  const Outcome<nlohmann::json> accepts =
      peer.call("accept_qp", {{"qp", remote.value()}, {"cm_port", options_.cm_port}, {"rd_atomic", kRdAtomic}});
  if (!accepts) return tl::unexpected(accepts.error());
  return {};
}

Outcome<void> ExchangeCm::connect(live::ControlClient& peer, const Gid& to, Qpn own, Qpn remote,
                                  std::uint32_t path_mtu) {
  if (Outcome<void> accepts = accept_there(peer, remote); !accepts) return accepts;
  live::ConnectPlan plan;
  plan.to = to;
  plan.port = options_.cm_port;
  plan.responder_resources = plan.initiator_depth = kRdAtomic;
  plan.traffic_class = options_.traffic_class;
  plan.path_mtu = path_mtu;
  connections_.push_back(std::make_unique<live::CmConnection>(cm_));
  live::CmConnection& connection = *connections_.back();
  if (live::Result<void> connected = live::run_script(cm_, connection.connect(own, plan)); !connected)
    return outcome_of(connected);
  if (connection.get() == nullptr) return failed("the peer ended the connection at once");
  const Qpn found = connection.get()->agreement().dest_qp;
  if (found == remote) return {};
  return failed(
      fmt::format("queue pair {} of another program answered at RDMA port {}, expected {}; choose another --cm",
                  found.value(), options_.cm_port, remote.value()));
}

Outcome<QKey> ExchangeCm::resolve(live::ControlClient& peer, const Gid& to, Qpn remote) {
  if (Outcome<void> accepts = accept_there(peer, remote); !accepts) return tl::unexpected(accepts.error());
  live::CmQuestion question{cm_};
  CmSidrRep found;
  if (live::Result<void> asked = live::run_script(cm_, ask(question, to, options_.cm_port, found)); !asked) {
    return tl::unexpected(asked.error());
  }
  if (found.qpn == remote) return found.q_key;
  return failed(
      fmt::format("queue pair {} of another program answered at RDMA port {}, expected {}; choose another --cm",
                  found.qpn.value(), options_.cm_port, remote.value()));
}

Outcome<void> ExchangeCm::disconnect() {
  return outcome_of(live::run_script(cm_, disconnect_all(connections_)));
}

}  // namespace roce::gen
