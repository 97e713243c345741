// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wireshark/epan/epan.h"

namespace roce::plugin {

/// Says which fields of Wireshark's own dissector a filter, a column or a statistic asks for, since they match nothing
/// where this plugin dissects, and which fields to use: each once, on standard error and as expert information of the
/// frame, which is the first RoCE packet that was dissected with that filter.
void warn_of_builtin_fields(packet_info* pinfo);

}  // namespace roce::plugin
