// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/cm_messages.h"
#include "roce/wire/constants.h"
#include "roce/wire/fields.h"
#include "roce/wire/mad.h"
#include "roce/wire/udp.h"
#include "wire/packet_parser.h"

namespace roce {

namespace {

constexpr Qpn kGsiQp{1};

/// Offset of the private data in a CM message.
template <HeaderType Message>
constexpr std::size_t kPrivateData = FieldOf<&Message::private_data>::kFirstByte;

}  // namespace

void PacketParser::transport(RoceVersion version) {
  if (!need(HeaderId::bth, kSize<Bth>)) return;
  const std::byte* bth = here();
  packet_.kind_ = PacketKind::roce;
  packet_.version_ = version;
  packet_.bth_offset_ = position_;
  packet_.outer_count_ = packet_.layer_count_;
  packet_.chain_ = static_cast<std::uint8_t>(bth[0]);
  // W-OPC-5 (for undefined and manufacturer opcodes, everything to the ICRC is payload)
  const detail::HeaderChain& chain = detail::kHeaderChains[std::to_integer<std::size_t>(bth[0])];
  for (std::size_t i = 0; i < chain.count; ++i) {
    const Layer& header = chain.layers[i];
    if (!need(header.id, header.size)) {
      payload_of_cut_headers(packet_.bth_offset_ + chain.bytes, FieldOf<&Bth::pad_count>::get(bth));
      return;
    }
    position_ += header.size;
    packet_.chain_bytes_ = static_cast<std::uint8_t>(position_ - packet_.bth_offset_);
  }
  payload_and_icrc(FieldOf<&Bth::pad_count>::get(bth));
  if (chain.is_datagram && FieldOf<&Bth::dest_qp>::get(bth) == kGsiQp) management_datagram();
}

void PacketParser::payload_of_cut_headers(std::uint32_t payload_offset, std::uint8_t pad_count) {
  if (limit_ == end_ || payload_offset + pad_count + kIcrcSize > end_) return;
  packet_.payload_offset_ = payload_offset;
  packet_.pad_size_ = pad_count;
  packet_.payload_size_ = end_ - payload_offset - pad_count - kIcrcSize;
}

void PacketParser::payload_and_icrc(std::uint8_t pad_count) {
  packet_.payload_offset_ = position_;
  const std::uint32_t behind = end_ - position_;
  if (behind < kIcrcSize + pad_count) {
    note(ParseReason::truncated, HeaderId::icrc, kIcrcSize + pad_count, behind);
    return;
  }
  packet_.pad_size_ = pad_count;
  packet_.payload_size_ = behind - kIcrcSize - pad_count;
  if (end_ > packet_.captured_) {
    note(ParseReason::cut_short, HeaderId::payload, behind, limit_ - position_);
    return;
  }
  packet_.has_icrc_ = end_is_known_ && !fragmented_ && packet_.problem_.reason == ParseReason::none;
}

void PacketParser::management_datagram() {
  // The MAD is the payload: it must not reach into the pad and the ICRC.
  const std::uint32_t payload_end = packet_.payload_offset_ + packet_.payload_size_;
  limit_ = std::min(limit_, payload_end);
  const auto fits = [&](std::size_t size) { return position_ <= limit_ && size <= limit_ - position_; };
  if (!fits(kSize<Mad>)) return;
  const std::byte* mad = take<Mad>();
  if (mad == nullptr) return;
  const HeaderId message = cm_header_id(read<Mad>(mad));
  if (message == HeaderId::none || !fits(header_info(message).size)) return;
  const Bytes data{here(), header_info(message).size};
  if (!push(message, static_cast<std::uint32_t>(data.size()))) return;
  // The CMA header lies inside the message, at the start of its private data.
  std::size_t cma = 0;
  if (message == HeaderId::cm_req && has_cma(read<CmReq>(data.data()).service_id, data.subspan(kPrivateData<CmReq>))) {
    cma = kPrivateData<CmReq>;
  } else if (message == HeaderId::cm_sidr_req &&
             has_cma(read<CmSidrReq>(data.data()).service_id, data.subspan(kPrivateData<CmSidrReq>))) {
    cma = kPrivateData<CmSidrReq>;
  } else {
    return;
  }
  position_ = position_ - static_cast<std::uint32_t>(data.size() - cma);
  static_cast<void>(push(HeaderId::cma, kSize<Cma>));
}

}  // namespace roce
