// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conform/target/target.h"
#include "roce/wire/cma.h"
#include "roce/wire/opcode.h"
#include "roce/wire/packet_spec.h"

namespace roce::conform {

/// The QP of management datagrams, and its Q_Key (IBTA vol. 1, 3.5.3).
inline constexpr Qpn kQp1{1};
inline constexpr QKey kQp1QKey{0x8001'0000};

/// Sets the addresses of a packet from the tester to the device, in a packet of the port's version.
void set_addresses(PacketSpec& spec, const Port& port);

/// Makes a frame from the tester to the device over the version of RoCE v2 that `port` has, with the values of these
/// fields (names of `PacketSpec`).
[[nodiscard]] std::vector<std::byte> frame_to_device(
    const Port& port, Opcode opcode, const std::vector<std::pair<std::string_view, std::string>>& values);

/// Returns the RDMA IP CM header with which the private data of the tester's REQ begin.
[[nodiscard]] Cma address_header(const Port& port);

}  // namespace roce::conform
