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

namespace roce::conform {

/// Makes a frame from the tester to the device over the version of RoCE v2 that `port` has, with the values of these
/// fields (names of `PacketSpec`).
[[nodiscard]] std::vector<std::byte> frame_to_device(
    const Port& port, Opcode opcode, const std::vector<std::pair<std::string_view, std::string>>& values);

/// Returns the RDMA IP CM header with which the private data of the tester's REQ begin.
[[nodiscard]] Cma address_header(const Port& port);

}  // namespace roce::conform
