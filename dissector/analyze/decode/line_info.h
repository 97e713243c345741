// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "packet_text/decoded_packet.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::analyze {

/// Appends what is particular to a packet, at the end of its line; two spaces precede each item. The contents of an
/// AETH come first, then addresses and keys, data, marks, and problems of the packet.
void append_info(text::TextBuffer& out, const packet_text::DecodedPacket& decoded, const text::Palette& palette);

}  // namespace roce::analyze
