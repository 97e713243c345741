// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/librdmacm/datagram_side.h"
#include "gen/librdmacm/program_report.h"

// The protocol of librdmacm's mckey: one sends its messages to a multicast group, and all others wait for them.
namespace roce::gen {

/// Returns the GID of a group as rdma_join_multicast makes it: for RoCE v2 the address itself, IPv4-mapped for IPv4;
/// for RoCE v1 ff0e::ffff:a.b.c.d for IPv4. `address` is a multicast address (IPv4-mapped or IPv6).
[[nodiscard]] Gid group_gid(const Gid& address, transport::GidType type);

/// Joins the group and waits for all messages, for the first one without a limit.
[[nodiscard]] live::Task<> mckey_receiver(live::Endpoint& endpoint, Gid group, MessageOptions options,
                                          ProgramReport& report);
/// Sends all messages to the group.
[[nodiscard]] live::Task<> mckey_sender(live::Endpoint& endpoint, Gid group, MessageOptions options,
                                        std::uint8_t traffic_class, ProgramReport& report);

}  // namespace roce::gen
