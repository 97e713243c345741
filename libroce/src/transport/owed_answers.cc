// SPDX-License-Identifier: BSD-2-Clause
// Answers to executed requests, which a QP still owes its peer when it goes to ERR or RESET, or is destroyed.
#include "transport/owed_answers.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "transport/device_state.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

[[nodiscard]] bool may_leave(const DeviceState& device, const Qp& left) {
  return !left.resp.responses.empty() && !left.waits_for_neighbour && (device.paused >> left.path.priority & 1) == 0;
}

}  // namespace

// QP-22 (requests that were executed are acknowledged, whatever becomes of the QP)
void keep_executed(DeviceState& device, Qp& qp) {
  Responder& resp = qp.resp;
  release_ack(device, qp);
  bool is_behind_data = false;
  resp.responses.remove_if([&](const Response& response) {
    is_behind_data = is_behind_data || (response.kind == Response::Kind::read && response.length != 0);
    if (is_behind_data && response.counts) --resp.rd_pending;
    return is_behind_data;
  });
}

void leave_answers(DeviceState& device, Qp& qp) {
  keep_executed(device, qp);
  if (qp.resp.responses.empty()) return;
  // A neighbour that never answers must not keep them for ever.
  if (device.left.size() >= device.config.limits.max_qp) device.left.erase(device.left.begin());
  auto left = std::make_unique<Qp>();
  left->qpn = qp.qpn;
  left->opcode_base = qp.opcode_base;
  left->p_key = qp.p_key;
  left->mtu = qp.mtu;
  left->dest_qp = qp.dest_qp;
  left->path = qp.path;
  left->resp.responses = std::move(qp.resp.responses);
  left->resp.rd_pending = qp.resp.rd_pending;
  device.left.push_back(std::move(left));
}

void wake_left_answers(DeviceState& device) {
  for (const std::unique_ptr<Qp>& left : device.left) left->waits_for_neighbour = false;
}

bool has_left_answers(const DeviceState& device) {
  return std::ranges::any_of(device.left, [&](const auto& left) { return may_leave(device, *left); });
}

bool serve_left_answers(DeviceState& device, Emitter& out, Time now) {
  // The units of the last call referred to the paths of those that were done.
  std::erase_if(device.left, [](const auto& left) { return left->resp.responses.empty(); });
  for (const std::unique_ptr<Qp>& left : device.left) {
    if (!may_leave(device, *left)) continue;
    if (!build_path(device, left->path, out.link())) {
      left->waits_for_neighbour = true;
      ask_for_neighbour(device, left->qpn, left->path);
      continue;
    }
    std::uint32_t quantum = std::numeric_limits<std::uint32_t>::max();
    const Served served = serve_responder(device, *left, out, now, quantum);
    device.other.sent_packets += std::exchange(left->counters.sent_packets, 0);
    device.other.sent_bytes += std::exchange(left->counters.sent_bytes, 0);
    if (served == Served::no_room) return false;
  }
  return true;
}

}  // namespace roce::transport::detail
