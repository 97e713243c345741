// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "plugin/epan.h"

namespace roce::plugin {

/// What stands for the QP number of an end that is not known.
inline constexpr guint32 kUnknownQp = 0xFFFF'FFFF;

/// What the dissectors of upper protocols want to know of a connection. It lives as long as the capture is open.
using ServiceData = conversation_infiniband_data;

// The dissectors of upper protocols find a connection by two kinds of conversations: one for what goes to a QP, by its
// address and number alone, which says the service and the direction; and one for both ends, which keeps their state.

/// Forgets that there were any.
void begin_qp_conversations();
/// New service data without a source QP and without CM message.
[[nodiscard]] ServiceData* new_service_data(std::uint64_t service_id, bool client_to_server);
/// Adds the conversation of what goes to the QP `qpn` of `host`, from the current frame on.
void add_one_way(const packet_info* pinfo, const address* host, guint32 qpn, ServiceData* data);
/// The service data of what goes to a QP, or null. Costs next to nothing while there are none at all.
[[nodiscard]] ServiceData* find_one_way(const packet_info* pinfo, const address* host, guint32 qpn);
/// Adds the conversation of both ends of the current packet, of which the source has the QP `source_qp` and the
/// destination `dest_qp`, from the current frame on. `data` may be null.
conversation_t* add_both_ways(const packet_info* pinfo, guint32 source_qp, guint32 dest_qp, ServiceData* data);
/// The service data of both ends of the current packet, by the ports of `pinfo`, or null.
[[nodiscard]] ServiceData* find_both_ways(const packet_info* pinfo);
/// Gives `to` what the dissectors of upper protocols remember in `from`.
void hand_over(const conversation_t* from, conversation_t* to);

}  // namespace roce::plugin
