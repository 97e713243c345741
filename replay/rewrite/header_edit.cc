// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/header_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "roce/wire/arp.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/bth.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/deth.h"
#include "roce/wire/fields.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/reth.h"

namespace roce::replay {

namespace {

/// Returns the address fields of a header.
const std::vector<const FieldInfo*>& address_fields(HeaderId id) {
  static const auto table = [] {
    std::array<std::vector<const FieldInfo*>, static_cast<std::size_t>(HeaderId::count)> fields;
    for (const HeaderInfo& header : header_table()) {
      for (const FieldInfo& field : header.fields) {
        const bool is_address = field.format == FieldFormat::mac || field.format == FieldFormat::ipv4 ||
                                (field.format == FieldFormat::gid && header.id != HeaderId::cma);
        if (is_address) fields[static_cast<std::size_t>(header.id)].push_back(&field);
      }
    }
    return fields;
  }();
  return table[static_cast<std::size_t>(id)];
}

template <typename Address>
Address load(const std::byte* from) {
  Address address;
  std::transform(from, from + address.octets.size(), address.octets.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return address;
}

template <typename Address>
void store(const Address& address, std::byte* to) {
  std::transform(address.octets.begin(), address.octets.end(), to, [](std::uint8_t octet) { return std::byte{octet}; });
}

AddressProblem left_open(const Gid& gid) {
  return {fmt::format("{} is in no --ip-map: add it, or keep such addresses with --unmapped keep", to_string(gid))};
}

AddressProblem wrong_family(const Gid& before, const Gid& after, const HeaderInfo& header) {
  return {fmt::format("{} becomes {}, which {} cannot hold", to_string(before), to_string(after), header.title)};
}

std::optional<Gid> translated(const Gid& gid, Translator& translator, bool lenient) {
  std::optional<Gid> changed = translator.gid(gid);
  if (!changed && lenient) changed = gid;
  return changed;
}

std::optional<AddressProblem> edit_address(const Layer& layer, const FieldInfo& field, std::span<std::byte> frame,
                                           Translator& translator, bool lenient) {
  std::byte* place = frame.data() + layer.offset + field.byte_offset();
  if (field.format == FieldFormat::mac) {
    store(translator.mac(load<MacAddress>(place)), place);
    return std::nullopt;
  }
  const bool is_ipv4 = field.format == FieldFormat::ipv4;
  const Gid before = is_ipv4 ? Gid::from_ipv4(load<Ipv4Address>(place)) : load<Gid>(place);
  const std::optional<Gid> after = translated(before, translator, lenient);
  if (!after) return left_open(before);
  if (is_ipv4) {
    if (!after->is_ipv4_mapped()) return wrong_family(before, *after, header_info(layer.id));
    store(after->ipv4(), place);
    return std::nullopt;
  }
  const bool is_ipv6 =
      layer.id == HeaderId::ipv6 || layer.id == HeaderId::nd_solicitation || layer.id == HeaderId::nd_advertisement;
  if (is_ipv6 && after->is_ipv4_mapped() && !before.is_ipv4_mapped()) {
    return wrong_family(before, *after, header_info(layer.id));
  }
  store(*after, place);
  return std::nullopt;
}

std::optional<AddressProblem> edit_cma(std::byte* header, Translator& translator, bool lenient) {
  auto cma = read<Cma>(header);
  const std::optional<Gid> source = translated(cma.source_gid(), translator, lenient);
  if (!source) return left_open(cma.source_gid());
  const std::optional<Gid> destination = translated(cma.destination_gid(), translator, lenient);
  if (!destination) return left_open(cma.destination_gid());
  if (source->is_ipv4_mapped() != destination->is_ipv4_mapped()) {
    return AddressProblem{fmt::format("the RDMA IP CM header cannot hold {} and {}: one is IPv4, the other IPv6",
                                      to_string(*source), to_string(*destination))};
  }
  const bool is_ipv4 = source->is_ipv4_mapped();
  cma.ip_version = is_ipv4 ? 4 : 6;
  cma.source_address = is_ipv4 ? Cma::from_ipv4(source->ipv4()) : *source;
  cma.destination_address = is_ipv4 ? Cma::from_ipv4(destination->ipv4()) : *destination;
  write(cma, header);
  return std::nullopt;
}

/// Replaces a member of the header at `header` by what `change` makes of it.
template <auto Member, typename Change>
void edit(std::byte* header, Change change) {
  FieldOf<Member>::set(header, change(FieldOf<Member>::get(header)));
}

/// Edits one header after another; each lies at `header`.
class TransportEdit {
 public:
  TransportEdit(const Ends& ends, Translator& translator) : ends_(ends), translator_(translator) {}

  void apply(HeaderId id, std::byte* header) const {
    const auto sender = [this](Qpn number) { return translator_.qpn(number, ends_.source); };
    const auto receiver = [this](Qpn number) { return translator_.qpn(number, ends_.destination); };
    const auto psn = [this](Psn number) { return translator_.psn(number); };
    const auto p_key = [this](PKey key) { return translator_.p_key(key); };
    const auto q_key = [this](QKey key) { return translator_.q_key(key); };
    const auto r_key = [this](RKey key) { return translator_.r_key(key); };
    const auto va = [this](std::uint64_t address) { return translator_.virtual_address(address); };
    switch (id) {
      case HeaderId::bth:
        edit<&Bth::dest_qp>(header, receiver);
        edit<&Bth::p_key>(header, p_key);
        // A CNP has no PSN (IBTA annex A17.9.3).
        if (FieldOf<&Bth::opcode>::get(header) != Opcode::cnp) edit<&Bth::psn>(header, psn);
        return;
      case HeaderId::deth:
        edit<&Deth::source_qp>(header, sender);
        edit<&Deth::q_key>(header, q_key);
        return;
      case HeaderId::reth:
        edit<&Reth::virtual_address>(header, va);
        edit<&Reth::r_key>(header, r_key);
        return;
      case HeaderId::atomiceth:
        edit<&AtomicEth::virtual_address>(header, va);
        edit<&AtomicEth::r_key>(header, r_key);
        return;
      case HeaderId::ieth:
        edit<&Ieth::r_key>(header, r_key);
        return;
      case HeaderId::cm_req:
        edit<&CmReq::local_qpn>(header, sender);
        edit<&CmReq::local_q_key>(header, q_key);
        edit<&CmReq::starting_psn>(header, psn);
        edit<&CmReq::p_key>(header, p_key);
        return;
      case HeaderId::cm_rep:
        edit<&CmRep::local_qpn>(header, sender);
        edit<&CmRep::local_q_key>(header, q_key);
        edit<&CmRep::starting_psn>(header, psn);
        return;
      case HeaderId::cm_dreq:
        edit<&CmDreq::remote_qpn>(header, receiver);
        return;
      case HeaderId::cm_lap:
        edit<&CmLap::remote_qpn>(header, receiver);
        return;
      case HeaderId::cm_sidr_req:
        edit<&CmSidrReq::p_key>(header, p_key);
        return;
      case HeaderId::cm_sidr_rep:
        edit<&CmSidrRep::qpn>(header, sender);
        edit<&CmSidrRep::q_key>(header, q_key);
        return;
      default:
        return;
    }
  }

 private:
  const Ends& ends_;
  Translator& translator_;
};

/// Replaces the bytes of the opaque fields of a CM message, except for a CMA header in front of them.
void hide_cm(const Layer& layer, std::span<std::byte> frame, std::size_t cma_end, const Pseudonyms& pseudonyms) {
  for (const FieldInfo& field : header_info(layer.id).fields) {
    if (field.format != FieldFormat::bytes) continue;
    const std::size_t end = layer.offset + field.byte_offset() + field.bit_width / 8;
    const std::size_t start = std::clamp(cma_end, layer.offset + field.byte_offset(), end);
    pseudonyms.replace(frame.subspan(start, end - start));
  }
}

bool is_cm(HeaderId id) {
  return id >= HeaderId::cm_req && id <= HeaderId::cm_apr;
}

/// Finds the headers of neighbour discovery and ARP, which a Packet leaves in its payload.
std::vector<Layer> find_neighbours(const Packet& packet) {
  std::vector<Layer> found;
  const Bytes said = packet.payload();
  std::uint32_t offset = packet.payload_offset();
  std::size_t left = said.size();
  const auto take = [&](HeaderId id, std::size_t size) {
    if (size > left) return false;
    found.push_back({offset, static_cast<std::uint16_t>(size), id});
    offset += static_cast<std::uint32_t>(size);
    left -= size;
    return true;
  };
  if (packet.is_roce() || packet.layers().empty()) return found;
  const Layer last = packet.layers().back();
  const std::byte* header = packet.layer_bytes(last).data();
  const bool is_arp =
      (last.id == HeaderId::ethernet && FieldOf<&Ethernet::ether_type>::get(header) == EtherType::arp) ||
      (last.id == HeaderId::vlan && FieldOf<&VlanTag::ether_type>::get(header) == EtherType::arp);
  if (is_arp && left >= kSize<Arp> && read<Arp>(said.data()).is_ipv4_over_ethernet()) take(HeaderId::arp, kSize<Arp>);
  const bool is_icmpv6 = last.id == HeaderId::ipv6 && FieldOf<&Ipv6::next_header>::get(header) == IpProtocol::icmpv6;
  if (!is_icmpv6 || left < kSize<Icmpv6>) return found;
  const Icmpv6Type type = FieldOf<&Icmpv6::type>::get(said.data());
  const bool is_question = type == Icmpv6Type::neighbour_solicitation;
  if (!is_question && type != Icmpv6Type::neighbour_advertisement) return found;
  offset += kSize<Icmpv6>;
  left -= kSize<Icmpv6>;
  const bool has_target = is_question ? take(HeaderId::nd_solicitation, kSize<NeighbourSolicitation>)
                                      : take(HeaderId::nd_advertisement, kSize<NeighbourAdvertisement>);
  if (has_target) take(HeaderId::nd_link_layer, kSize<NdLinkLayer>);
  return found;
}

}  // namespace

std::optional<AddressProblem> edit_addresses(const Packet& packet, std::span<std::byte> frame, Translator& translator,
                                             bool lenient) {
  for (const Layer& layer : packet.layers()) {
    const bool is_own =
        packet.is_roce() && layer.offset == packet.network_offset() && layer.id == packet.network_header();
    if (is_own) continue;
    // Addresses in headers around a packet need not be covered by rules; those that its ends exchange have to be.
    const bool may_stay = lenient || (packet.is_roce() && layer.offset < packet.network_offset());
    if (layer.id == HeaderId::cma) {
      if (auto problem = edit_cma(frame.data() + layer.offset, translator, may_stay)) return problem;
    }
    for (const FieldInfo* field : address_fields(layer.id)) {
      if (auto problem = edit_address(layer, *field, frame, translator, may_stay)) return problem;
    }
  }
  for (const Layer& layer : find_neighbours(packet)) {
    for (const FieldInfo* field : address_fields(layer.id)) {
      if (auto problem = edit_address(layer, *field, frame, translator, lenient)) return problem;
    }
  }
  return std::nullopt;
}

void edit_transport(const Packet& packet, std::span<std::byte> frame, const Ends& ends, Translator& translator) {
  const TransportEdit edit{ends, translator};
  for (const Layer& layer : packet.layers()) edit.apply(layer.id, frame.data() + layer.offset);
}

void hide_data(const Packet& packet, std::span<std::byte> frame, Translator& translator) {
  const Pseudonyms* pseudonyms = translator.pseudonyms();
  if (pseudonyms == nullptr) return;
  const auto number = [&](std::uint64_t value) { return pseudonyms->number64(value); };
  std::size_t cma_end = 0;
  if (const std::optional<Layer> cma = packet.find(HeaderId::cma)) cma_end = cma->offset + std::size_t{cma->size};
  std::size_t said = packet.payload_offset();
  bool has_cm = false;
  for (const Layer& layer : packet.layers()) {
    std::byte* header = frame.data() + layer.offset;
    switch (layer.id) {
      case HeaderId::immdt:
        edit<&ImmDt::data>(header, [&](std::uint32_t data) { return pseudonyms->number32(data); });
        break;
      case HeaderId::atomiceth:
        edit<&AtomicEth::swap_or_add>(header, number);
        edit<&AtomicEth::compare>(header, number);
        break;
      case HeaderId::atomicacketh:
        edit<&AtomicAckEth::original>(header, number);
        break;
      case HeaderId::mad:
        said = layer.offset + std::size_t{layer.size};
        break;
      case HeaderId::cm_req:
        edit<&CmReq::local_ca_guid>(header, number);
        break;
      case HeaderId::cm_rep:
        edit<&CmRep::local_ca_guid>(header, number);
        break;
      default:
        break;
    }
    if (!is_cm(layer.id)) continue;
    has_cm = true;
    hide_cm(layer, frame, cma_end, *pseudonyms);
  }
  // In a packet that was cut within its headers, the payload is behind what was captured.
  const std::size_t end = std::min(packet.payload_offset() + packet.payload().size(), frame.size());
  if (!has_cm && said < end && pseudonyms->replace(frame.subspan(said, end - said))) translator.count(Change::data);
  std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(end), packet.pad().size(), std::byte{});
  const Bytes trailer = packet.trailer();
  std::fill_n(frame.end() - static_cast<std::ptrdiff_t>(trailer.size()), trailer.size(), std::byte{});
}

}  // namespace roce::replay
