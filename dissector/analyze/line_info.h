// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/decoded_packet.h"
#include "analyze/palette.h"
#include "analyze/text_buffer.h"

namespace roce::analyze {

/// Appends what is particular to a packet, at the end of its line; two spaces precede each item. The contents of an
/// AETH come first, then addresses and keys, data, marks, and problems of the packet.
void append_info(TextBuffer& out, const DecodedPacket& decoded, const Palette& palette);

}  // namespace roce::analyze
