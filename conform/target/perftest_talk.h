// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "conform/target/tcp_talk.h"
#include "perftest/handshake.h"

namespace roce::conform {

/// The result of a handshake with a server of perftest.
struct PerftestIntroduction {
  PerftestKeys keys{};         ///< of its QP
  std::uint32_t path_mtu = 0;  ///< bytes
};

/// Carries out the handshake of one of perftest's bandwidth programs up to the moment when the client sends its data.
/// `barriers` is how many exchanges follow that of the keys. Failures: those of `TcpTalk`, a server that speaks another
/// protocol.
[[nodiscard]] live::Result<PerftestIntroduction> introduce_perftest(TcpTalk& talk, const PerftestKeys& own,
                                                                    std::uint32_t path_mtu, int barriers);

}  // namespace roce::conform
