// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/fields.h"
#include "roce/wire/lldp.h"
#include "roce/wire/packet.h"

namespace roce {

namespace detail {

template <typename Use>
void visit_lldp(Bytes pdu, std::size_t base, Use& use) {
  LldpItem item;
  for (LldpWalker walker{pdu}; walker.next(item);) {
    const std::size_t value = item.offset + kSize<LldpTlv>;
    use(header_info(HeaderId::lldp_tlv), pdu.subspan(item.offset, kSize<LldpTlv>), base + item.offset);
    if (item.header.type != LldpType::organization || item.value.size() < kSize<LldpOrg>) continue;
    use(header_info(HeaderId::lldp_org), pdu.subspan(value, kSize<LldpOrg>), base + value);
    const Result<HeaderId> dcbx = dcbx_header_id(item.value);
    if (!dcbx || *dcbx == HeaderId::none) continue;
    const HeaderInfo& info = header_info(*dcbx);
    const std::size_t body = value + kSize<LldpOrg>;
    use(info, pdu.subspan(body, info.size), base + body);
    if (*dcbx != HeaderId::dcbx_app) continue;
    const std::size_t entries = dcbx_app_entries(item.value).size() / kSize<DcbxAppEntry>;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t entry = body + info.size + i * kSize<DcbxAppEntry>;
      use(header_info(HeaderId::dcbx_app_entry), pdu.subspan(entry, kSize<DcbxAppEntry>), base + entry);
    }
  }
}

}  // namespace detail

/// Calls `use(const HeaderInfo&, Bytes header, std::size_t offset)` for each header of a packet,
/// outermost first, including the TLVs of an LLDP frame. Offsets count from the first parsed byte.
/// All code that shows a packet's fields uses this function.
template <typename Use>
void visit_headers(const Packet& packet, Use use) {
  for (const Layer& layer : packet.layers()) use(header_info(layer.id), packet.layer_bytes(layer), layer.offset);
  if (packet.kind() == PacketKind::lldp) detail::visit_lldp(packet.payload(), packet.payload_offset(), use);
}

}  // namespace roce
