// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "roce/wire/packet_spec.h"
#include "sim/endpoint.h"

namespace roce::sim {

/// Makes packets that claim to come from one endpoint and go to its peer, legal except for the given edits.
class Forger {
 public:
  using Edits = std::initializer_list<std::pair<std::string_view, std::string>>;

  Forger(const Endpoint& from, const Endpoint& to) : from_(from), to_(to) {}

  /// Returns a RoCE v2 packet over IPv4 with fields set by name.
  [[nodiscard]] Frame make(Opcode opcode, std::uint32_t psn, Edits edits) const {
    PacketSpec spec = PacketSpec::for_opcode(opcode, RoceVersion::v2_ipv4);
    set(spec, "eth.src", to_string(from_.host().mac()));
    set(spec, "eth.dst", to_string(to_.host().mac()));
    set(spec, "ip.src", to_string(from_.host().gid()));
    set(spec, "ip.dst", to_string(to_.host().gid()));
    set(spec, "bth.dest_qp", std::to_string(to_.qpn().value()));
    set(spec, "bth.psn", std::to_string(psn));
    set(spec, "bth.ack_req", "true");
    for (const auto& [name, value] : edits) set(spec, name, value);
    const auto frame = spec.build();
    if (!frame) throw std::invalid_argument(frame.error().message);
    return *frame;
  }

  /// Sends such a packet from the endpoint's host.
  void send(Opcode opcode, std::uint32_t psn, Edits edits = {}) const {
    from_.host().network().inject(from_.host().node(), make(opcode, psn, edits));
  }

  /// Returns the address, for a RETH or AtomicETH, of an offset in the peer's memory.
  [[nodiscard]] std::string address(std::uint64_t offset) const { return std::to_string(to_.address(offset)); }
  [[nodiscard]] std::string key() const { return std::to_string(to_.info().r_key.value()); }

 private:
  static void set(PacketSpec& spec, std::string_view name, const std::string& value) {
    if (const auto done = spec.set(name, value); !done) throw std::invalid_argument(done.error().message);
  }

  const Endpoint& from_;
  const Endpoint& to_;
};

}  // namespace roce::sim
