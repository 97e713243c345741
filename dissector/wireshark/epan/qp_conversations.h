// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "wireshark/epan/epan.h"

namespace roce::plugin {

/// Stands for the QP number of an end that is not known.
inline constexpr guint32 kUnknownQp = 0xFFFF'FFFF;

/// The facts about a connection that the dissectors of upper protocols need. Lives as long as the capture is open.
using ServiceData = conversation_infiniband_data;

// The dissectors of upper protocols find a connection by two kinds of conversations: one for packets to a QP, by its
// address and number alone, which has the service and the direction; and one for both ends, which keeps their state.

/// Forgets that there were any conversations.
void begin_qp_conversations();
/// Creates service data without a source QP and without a CM message.
[[nodiscard]] ServiceData* new_service_data(std::uint64_t service_id, bool client_to_server);
/// Adds the conversation for packets to the QP `qpn` of `host`, from the current frame on.
void add_one_way(const packet_info* pinfo, const address* host, guint32 qpn, ServiceData* data);
/// Returns the service data for packets to a QP, or null. Costs next to nothing while there are no conversations.
[[nodiscard]] ServiceData* find_one_way(const packet_info* pinfo, const address* host, guint32 qpn);
/// Adds the conversation of both ends of the current packet, whose source has the QP `source_qp` and whose destination
/// `dest_qp`, from the current frame on. `data` may be null.
conversation_t* add_both_ways(const packet_info* pinfo, guint32 source_qp, guint32 dest_qp, ServiceData* data);
/// Returns the service data of both ends of the current packet, by the ports of `pinfo`, or null.
[[nodiscard]] ServiceData* find_both_ways(const packet_info* pinfo);
/// Copies what the dissectors of upper protocols remember in `from` to `to`.
void hand_over(const conversation_t* from, conversation_t* to);

}  // namespace roce::plugin
