// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a management datagram, as each CM message, as an LLDPDU and as a congestion notification, and
// checks that emit gives back the bytes that parse took.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "roce/wire/cm_messages.h"
#include "roce/wire/lldp.h"
#include "roce/wire/mac_control.h"
#include "roce/wire/qcn.h"

namespace {

using roce::Bytes;
using roce::HeaderId;

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename H>
void check(Bytes bytes) {
  const auto header = roce::parse<H>(bytes);
  require(header.has_value() == (bytes.size() >= roce::kSize<H>));
  if (!header) return;
  std::array<std::byte, roce::kSize<H>> out;
  require(roce::emit(*header, out).has_value());
  require(std::equal(out.begin(), out.end(), bytes.begin()));
  require(roce::parse<H>(out) == *header);
}

template <typename... H>
void check_each(Bytes bytes) {
  (check<H>(bytes), ...);
}

void check_private_data(roce::ServiceId service, Bytes data) {
  check<roce::Cma>(data);
  if (!roce::has_cma(service, data)) return;
  const auto cma = roce::read<roce::Cma>(data.data());
  require(cma.source_gid().is_ipv4_mapped() || cma.ip_version == 6);
}

void check_mad(Bytes bytes) {
  check<roce::Mad>(bytes);
  if (bytes.size() < roce::kSize<roce::Mad>) return;
  const auto id = roce::cm_header_id(roce::read<roce::Mad>(bytes.data()));
  const Bytes data = bytes.subspan(roce::kSize<roce::Mad>);
  check_each<roce::CmReq, roce::CmMra, roce::CmRej, roce::CmRep, roce::CmRtu, roce::CmDreq, roce::CmDrep,
             roce::CmSidrReq, roce::CmSidrRep, roce::CmLap, roce::CmApr>(data);
  if (data.size() < roce::kSize<roce::CmReq>) return;
  if (id == HeaderId::cm_req) {
    const auto req = roce::read<roce::CmReq>(data.data());
    check_private_data(req.service_id, req.private_data);
  } else if (id == HeaderId::cm_sidr_req) {
    const auto req = roce::read<roce::CmSidrReq>(data.data());
    check_private_data(req.service_id, req.private_data);
  }
}

void check_dcbx(Bytes value) {
  const auto id = roce::dcbx_header_id(value);
  if (!id) {
    require(id.error().reason != roce::ParseReason::none && id.error().offset <= value.size());
    return;
  }
  if (*id == HeaderId::none) return;
  const Bytes content = value.subspan(roce::kSize<roce::LldpOrg>);
  check_each<roce::DcbxEts, roce::DcbxEtsRecommendation, roce::DcbxPfc, roce::DcbxApp>(content);
  const Bytes entries = roce::dcbx_app_entries(value);
  require(entries.size() % roce::kSize<roce::DcbxAppEntry> == 0);
  for (std::size_t i = 0; i < entries.size(); i += roce::kSize<roce::DcbxAppEntry>) {
    check<roce::DcbxAppEntry>(entries.subspan(i));
  }
  if (*id == HeaderId::dcbx_app) require(entries.size() + 1 == content.size());
}

void check_lldp(Bytes pdu) {
  roce::LldpWalker walker(pdu);
  std::size_t end = 0;
  bool ended = false;
  for (roce::LldpItem item; walker.next(item);) {
    require(!ended && item.offset == end);
    check<roce::LldpTlv>(pdu.subspan(item.offset));
    require(item.value.size() == item.header.length);
    require(item.value.data() == pdu.data() + item.offset + roce::kSize<roce::LldpTlv>);
    end = item.offset + roce::kSize<roce::LldpTlv> + item.value.size();
    require(end <= pdu.size() && walker.offset() == end);
    ended = item.header.type == roce::LldpType::end;
    if (item.header.type == roce::LldpType::organization) {
      check<roce::LldpOrg>(item.value);
      check_dcbx(item.value);
    }
  }
  require(ended == (walker.problem().reason == roce::ParseReason::none));
  require(ended || walker.problem().offset == end);
}

void check_congestion(Bytes pdu) {
  check_each<roce::CnTag, roce::Cnm, roce::MacControl, roce::Pfc, roce::Pause>(pdu);
  const auto msdu = roce::encapsulated_msdu(pdu);
  if (!msdu) return;
  require(msdu->size() <= roce::kCnmMaxMsdu && msdu->size() + roce::kSize<roce::Cnm> <= pdu.size());
  require(msdu->data() == pdu.data() + roce::kSize<roce::Cnm>);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  check_mad(bytes);
  check_lldp(bytes);
  check_congestion(bytes);
  return 0;
}
