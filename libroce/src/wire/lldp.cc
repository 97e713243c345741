// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/lldp.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roce {
namespace {

/// The subtypes of DCBX (IEEE 802.1Q, table D-1).
constexpr std::array kSubtypes{
    std::pair{std::uint8_t{9}, HeaderId::dcbx_ets}, std::pair{std::uint8_t{10}, HeaderId::dcbx_ets_recommendation},
    std::pair{std::uint8_t{11}, HeaderId::dcbx_pfc}, std::pair{std::uint8_t{12}, HeaderId::dcbx_app}};

ParseError error(ParseReason reason, HeaderId layer, std::size_t offset, std::size_t needed, std::size_t available) {
  return {reason, layer, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(needed),
          static_cast<std::uint32_t>(available)};
}

std::size_t dcbx_size(HeaderId id) {
  switch (id) {
    case HeaderId::dcbx_ets:
      return kSize<DcbxEts>;
    case HeaderId::dcbx_ets_recommendation:
      return kSize<DcbxEtsRecommendation>;
    case HeaderId::dcbx_pfc:
      return kSize<DcbxPfc>;
    default:
      return kSize<DcbxApp>;
  }
}

}  // namespace

HeaderId dcbx_header_id(const LldpOrg& org) {
  if (org.oui != kOuiIeee8021) return HeaderId::none;
  const auto* const found = std::ranges::find(kSubtypes, org.subtype, &decltype(kSubtypes)::value_type::first);
  return found != kSubtypes.end() ? found->second : HeaderId::none;
}

LldpOrg dcbx_org(HeaderId id) {
  const auto* const found = std::ranges::find(kSubtypes, id, &decltype(kSubtypes)::value_type::second);
  return {kOuiIeee8021, found != kSubtypes.end() ? found->first : std::uint8_t{0}};
}

Result<HeaderId> dcbx_header_id(Bytes value) {
  const Result<LldpOrg> org = parse<LldpOrg>(value);
  if (!org) return tl::unexpected(org.error());
  const HeaderId id = dcbx_header_id(*org);
  if (id == HeaderId::none) return id;

  const std::size_t size = dcbx_size(id);
  const std::size_t left = value.size() - kSize<LldpOrg>;
  if (left < size) return tl::unexpected(error(ParseReason::truncated, id, kSize<LldpOrg>, size, left));
  if (id == HeaderId::dcbx_app) {
    const std::size_t extra = (left - size) % kSize<DcbxAppEntry>;
    if (extra != 0) {
      return tl::unexpected(
          error(ParseReason::bad_length, HeaderId::dcbx_app_entry, value.size() - extra, kSize<DcbxAppEntry>, extra));
    }
  } else if (left > size) {
    return tl::unexpected(error(ParseReason::bad_length, id, kSize<LldpOrg>, size, left));
  }
  return id;
}

Bytes dcbx_app_entries(Bytes value) {
  constexpr std::size_t start = kSize<LldpOrg> + kSize<DcbxApp>;
  if (value.size() < start) return {};
  const std::size_t left = value.size() - start;
  return value.subspan(start, left - left % kSize<DcbxAppEntry>);
}

bool LldpWalker::next(LldpItem& item) {
  if (done_) return false;
  const Bytes rest = pdu_.subspan(offset_);
  const auto stop = [&](ParseReason reason, std::size_t needed, std::size_t available) {
    problem_ = error(reason, HeaderId::lldp_tlv, offset_, needed, available);
    done_ = true;
    return false;
  };

  if (rest.size() < kSize<LldpTlv>) return stop(ParseReason::truncated, kSize<LldpTlv>, rest.size());
  const auto header = read<LldpTlv>(rest.data());
  const std::size_t size = kSize<LldpTlv> + header.length;
  if (rest.size() < size) return stop(ParseReason::truncated, size, rest.size());
  if (header.type == LldpType::end && header.length != 0) return stop(ParseReason::bad_length, 0, header.length);

  item = {header, offset_, rest.subspan(kSize<LldpTlv>, header.length)};
  offset_ += size;
  done_ = header.type == LldpType::end;
  return true;
}

}  // namespace roce
