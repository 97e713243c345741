// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/hook.h"

namespace roce::transport {

TxVerdict MisbehaviourHook::on_transmit(std::span<std::byte> /*packet*/, Time /*now*/) {
  return {};
}

std::optional<AethSyndrome> MisbehaviourHook::on_request(const Packet& /*packet*/, Time /*now*/) {
  return std::nullopt;
}

}  // namespace roce::transport
