// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "roce/wire/frame_layers.h"
#include "roce/wire/grh.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/super_frame.h"
#include "roce/wire/udp.h"

namespace roce::replay {

namespace {

/// Returns the length on the wire of a frame that was made from a packet.
std::uint32_t length_of(const Packet& packet, const std::vector<std::byte>& frame) {
  return packet.reported_length() - static_cast<std::uint32_t>(packet.bytes().size()) +
         static_cast<std::uint32_t>(frame.size());
}

std::string_view family(const Gid& gid) {
  return gid.is_ipv4_mapped() ? "IPv4" : "IPv6";
}

/// Returns a number that follows from a flow and a seed, evenly spread.
std::uint64_t scramble(std::uint64_t seed, const Gid& source, const Gid& destination, Qpn dest_qp) {
  std::uint64_t state = seed;
  const auto add = [&state](std::uint64_t number) {
    // splitmix64 (Steele, Lea, Flood)
    state += 0x9E3779B97F4A7C15 + number;
    state = (state ^ state >> 30U) * 0xBF58476D1CE4E5B9;
    state = (state ^ state >> 27U) * 0x94D049BB133111EB;
    state ^= state >> 31U;
  };
  for (const std::uint8_t octet : source.octets) add(octet);
  for (const std::uint8_t octet : destination.octets) add(octet);
  add(dest_qp.value());
  return state;
}

/// True if a rewritten RoCE packet is what the link type of its file promises.
bool fits(const Packet& packet, LinkType link_type) {
  const LayerList layers = packet.layers();
  if (!packet.is_roce() || layers.empty()) return false;
  if (link_type == LinkType::ipv4) return layers[0].id == HeaderId::ipv4;
  return link_type != LinkType::ipv6 || layers[0].id == HeaderId::ipv6;
}

/// Returns the header of a packet that a setting refers to.
std::optional<Layer> find_header(const Packet& packet, const FieldSetting& setting) {
  if (!setting.index) return packet.find(setting.header->id);
  std::size_t left = *setting.index;
  for (const Layer& layer : packet.layers()) {
    if (layer.id == setting.header->id && left-- == 0) return layer;
  }
  return std::nullopt;
}

}  // namespace

Rewriter::Rewriter(RewriteRules rules)
    : rules_(std::make_unique<const RewriteRules>(std::move(rules))), translator_(*rules_) {
  counts_.fields.resize(rules_->fields.size());
}

Rewriter::Buffer& Rewriter::next_buffer() {
  // The frames that came out before are views of these buffers, and the bytes of a buffer never move.
  if (buffers_.size() == frames_.size()) buffers_.emplace_back();
  return buffers_[frames_.size()];
}

tl::expected<std::span<const RewrittenFrame>, std::string> Rewriter::rewrite(const Packet& packet, LinkType link_type) {
  frames_.clear();
  ++counts_.frames;
  Problem problem;
  if (!packet.is_roce()) {
    problem = rewrite_other(packet, link_type);
  } else {
    const FrameSeal seal{packet};
    const bool may_be_several = seal.icrc_error().value_or(0) != 0;
    if (const auto parts = may_be_several ? find_super_frame(packet) : std::nullopt) {
      ++counts_.super_frames;
      for (std::uint32_t i = 0; i < parts->count && !problem; ++i) {
        cut_frame(packet, *parts, i, segment_);
        const Packet part = parse_frame(segment_, link_type);
        problem = rewrite_one(part, FrameSeal{part}, link_type);
      }
    } else {
      problem = rewrite_one(packet, seal, link_type);
    }
  }
  counts_.changes = translator_.changes();
  if (problem) return tl::unexpected(std::move(problem->message));
  return std::span<const RewrittenFrame>{frames_};
}

Rewriter::Problem Rewriter::rewrite_other(const Packet& packet, LinkType link_type) {
  // Only frames that pause a link reveal nothing but their sender.
  const bool is_pause = packet.kind() == PacketKind::pfc || packet.kind() == PacketKind::pause;
  if (rules_->only_roce || (rules_->anonymise && !is_pause)) {
    ++counts_.left_out;
    return std::nullopt;
  }
  Buffer& frame = next_buffer();
  frame.assign(packet.bytes().begin(), packet.bytes().end());
  const FrameSeal seal{packet};
  if (edit_addresses(packet, frame, translator_, true)) {
    ++counts_.unconvertible;
    return std::nullopt;
  }
  if (rules_->anonymise) hide_data(packet, frame, translator_);
  counts_.bad_checksums += seal.wrong_checksums();
  finish(packet, seal, link_type, frame);
  return std::nullopt;
}

void Rewriter::count_checks(const Packet& packet, const FrameSeal& seal) {
  ++counts_.roce_packets;
  counts_.bad_checksums += seal.wrong_checksums();
  if (seal.icrc_error()) {
    if (*seal.icrc_error() != 0) ++counts_.bad_icrc;
  } else if (packet.reported_length() > packet.bytes().size()) {
    ++counts_.cut_short;
  } else {
    ++counts_.icrc_not_checked;
  }
}

Rewriter::Problem Rewriter::rewrite_one(const Packet& packet, const FrameSeal& seal, LinkType link_type) {
  const NetMeta before = packet.net();
  Buffer& frame = next_buffer();
  frame.assign(packet.bytes().begin(), packet.bytes().end());
  const auto parse = [&] { return parse_frame(frame, link_type, length_of(packet, frame)); };

  if (rules_->strip_tunnels) strip_tunnels(packet, frame);
  Packet now = parse();
  if (!fits(now, link_type))
    return AddressProblem{"without its tunnel the frame does not fit the link type of the file"};
  if (rules_->remove_vlan && remove_vlan_tags(now, frame)) {
    translator_.count(Change::vlan);
    now = parse();
  }
  const bool needs_ethernet = rules_->add_vlan || rules_->source_mac || rules_->destination_mac;
  if (needs_ethernet && !now.find(HeaderId::ethernet)) {
    return AddressProblem{"there is no Ethernet header for --vlan-add, --source-mac or --destination-mac"};
  }
  if (rules_->add_vlan && add_vlan_tag(now, *rules_->add_vlan, frame)) {
    translator_.count(Change::vlan);
    now = parse();
  }
  edit_link(now, frame);
  if (Problem problem = edit_addresses(now, frame, translator_, false)) return problem;
  edit_transport(now, frame, {before.source, before.destination}, translator_);
  hide_data(now, frame, translator_);
  if (Problem problem = edit_network(now, before, frame)) return problem;
  if (!fits(parse(), link_type)) return AddressProblem{"the new network header does not fit the link type of the file"};
  count_checks(packet, seal);
  finish(packet, seal, link_type, frame);
  return std::nullopt;
}

void Rewriter::edit_link(const Packet& packet, std::span<std::byte> frame) {
  std::optional<Layer> ethernet = packet.find(HeaderId::ethernet);
  if (ethernet) {
    std::byte* header = frame.data() + ethernet->offset;
    const auto source = FieldOf<&Ethernet::source>::get(header);
    const auto destination = FieldOf<&Ethernet::destination>::get(header);
    // Addresses that `macs` names are translated later, so they have to stay in the frame until then.
    if (rules_->source_mac && !rules_->macs.contains(source)) {
      FieldOf<&Ethernet::source>::set(header, *rules_->source_mac);
      translator_.count(Change::mac);
    }
    if (rules_->destination_mac && !rules_->macs.contains(destination)) {
      FieldOf<&Ethernet::destination>::set(header, *rules_->destination_mac);
      translator_.count(Change::mac);
    }
  }
  if (rules_->vlans.empty() && !rules_->pcp) return;
  for (const Layer& layer : packet.layers()) {
    if (layer.id != HeaderId::vlan) continue;
    std::byte* tag = frame.data() + layer.offset;
    const auto rule = rules_->vlans.find(FieldOf<&VlanTag::vlan_id>::get(tag));
    if (rule != rules_->vlans.end()) {
      FieldOf<&VlanTag::vlan_id>::set(tag, rule->second);
      translator_.count(Change::vlan);
    }
    if (rules_->pcp) {
      FieldOf<&VlanTag::priority>::set(tag, *rules_->pcp);
      translator_.count(Change::vlan);
    }
  }
}

std::uint16_t Rewriter::source_port(const NetMeta& before, Qpn dest_qp, std::uint32_t flow_label) const {
  constexpr std::uint16_t dynamic_ports = 0xC000;
  switch (rules_->source_port) {
    case SourcePort::keep:
      if (before.version != RoceVersion::v1) return before.udp_source_port;
      return transport::udp_source_port(flow_label != 0 ? flow_label : transport::flow_label_of(dest_qp, Qpn{}));
    case SourcePort::fixed:
      return rules_->udp_source_port;
    case SourcePort::flow_label:
      return transport::udp_source_port(flow_label != 0 ? flow_label : transport::flow_label_of(dest_qp, Qpn{}));
    case SourcePort::random:
      break;
  }
  return static_cast<std::uint16_t>(scramble(rules_->seed, before.source, before.destination, dest_qp) | dynamic_ports);
}

Rewriter::Problem Rewriter::edit_network(const Packet& packet, const NetMeta& before, Buffer& frame) {
  NetMeta net = packet.net();
  const std::optional<Gid> source = translator_.gid(net.source);
  const std::optional<Gid> destination = translator_.gid(net.destination);
  for (const auto& [old, changed] : {std::pair{net.source, source}, std::pair{net.destination, destination}}) {
    if (changed) continue;
    return AddressProblem{
        fmt::format("{} is in no --ip-map: add it, or keep such addresses with --unmapped keep", to_string(old))};
  }
  const NetMeta old = net;
  net.source = *source;
  net.destination = *destination;
  const bool is_ipv4 = net.source.is_ipv4_mapped();
  const bool is_v1 =
      rules_->version == ToVersion::v1 || (rules_->version == ToVersion::same && old.version == RoceVersion::v1);
  if (is_v1) {
    net.version = RoceVersion::v1;
  } else {
    net.version = is_ipv4 ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6;
    const bool wants_ipv4 = rules_->version == ToVersion::v2_ipv4;
    const bool wants_ipv6 = rules_->version == ToVersion::v2_ipv6;
    for (const Gid& gid : {net.source, net.destination}) {
      if ((wants_ipv4 && !gid.is_ipv4_mapped()) || (wants_ipv6 && gid.is_ipv4_mapped())) {
        return AddressProblem{fmt::format("{} is an {} address, and {} was asked for: give it another with --ip-map",
                                          to_string(gid), family(gid), wants_ipv4 ? "v2_ipv4" : "v2_ipv6")};
      }
    }
    if (net.destination.is_ipv4_mapped() != is_ipv4) {
      return AddressProblem{fmt::format("{} is {} and {} is {}: one header cannot hold both; give --ip-map for both",
                                        to_string(net.source), family(net.source), to_string(net.destination),
                                        family(net.destination))};
    }
  }
  if (rules_->dscp) net.traffic_class = static_cast<std::uint8_t>(*rules_->dscp * 4U + (net.traffic_class & 3U));
  if (rules_->ecn) net.traffic_class = static_cast<std::uint8_t>((net.traffic_class & ~3U) | *rules_->ecn);
  if (rules_->hop_limit) net.hop_limit = *rules_->hop_limit;
  if (net.traffic_class != old.traffic_class || net.hop_limit != old.hop_limit)
    translator_.count(Change::network_field);
  const std::uint32_t flow_label = flow_label_of(packet);
  if (net.version != RoceVersion::v1) net.udp_source_port = source_port(before, packet.bth().dest_qp, flow_label);

  std::byte* header = frame.data() + packet.network_offset();
  if (net.version != old.version) {
    translator_.count(Change::version);
    if (change_network(packet, net, flow_label, frame)) return std::nullopt;
    return AddressProblem{
        "the frame cannot become another RoCE version: its network header stands directly in a tunnel, "
        "or there is no Ethernet header; --strip-tunnels takes tunnels off"};
  }
  if (packet.network_header() == HeaderId::ipv4) {
    FieldOf<&Ipv4::source>::set(header, net.source.ipv4());
    FieldOf<&Ipv4::destination>::set(header, net.destination.ipv4());
    FieldOf<&Ipv4::dscp>::set(header, static_cast<std::uint8_t>(net.traffic_class >> 2U));
    FieldOf<&Ipv4::ecn>::set(header, static_cast<std::uint8_t>(net.traffic_class & 3U));
    FieldOf<&Ipv4::ttl>::set(header, net.hop_limit);
  } else {
    // A GRH has the shape of an IPv6 header (IBTA vol. 1, 8.3).
    FieldOf<&Ipv6::source>::set(header, net.source);
    FieldOf<&Ipv6::destination>::set(header, net.destination);
    FieldOf<&Ipv6::dscp>::set(header, static_cast<std::uint8_t>(net.traffic_class >> 2U));
    FieldOf<&Ipv6::ecn>::set(header, static_cast<std::uint8_t>(net.traffic_class & 3U));
    FieldOf<&Ipv6::hop_limit>::set(header, net.hop_limit);
  }
  const std::optional<Layer> udp = packet.find(HeaderId::udp);
  if (udp && net.version != RoceVersion::v1) {
    FieldOf<&Udp::source_port>::set(frame.data() + udp->offset, net.udp_source_port);
    if (net.udp_source_port != old.udp_source_port) translator_.count(Change::udp_port);
  }
  return std::nullopt;
}

void Rewriter::set_fields(const Packet& packet, std::span<std::byte> frame, bool again) {
  for (std::size_t i = 0; i < rules_->fields.size(); ++i) {
    const FieldSetting& setting = rules_->fields[i];
    const bool wanted = !again || setting.field->name == "checksum";
    const std::optional<Layer> layer = wanted ? find_header(packet, setting) : std::nullopt;
    if (!layer) continue;
    // The value was tried on the same field when the rules were read.
    static_cast<void>(set_field_text(*setting.field, frame.subspan(layer->offset, layer->size), setting.value));
    if (again) continue;
    ++counts_.fields[i];
    translator_.count(Change::field);
  }
}

void Rewriter::finish(const Packet& packet, const FrameSeal& seal, LinkType link_type, Buffer& frame) {
  const std::uint32_t length = length_of(packet, frame);
  const Packet now = parse_frame(frame, link_type, length);
  set_fields(now, frame, false);
  seal.renew(now, frame, rules_->keep_bad_checksums ? WrongCheck::keep : WrongCheck::repair,
             rules_->keep_bad_icrc ? WrongCheck::keep : WrongCheck::repair);
  // Sealing has computed the checksums: set those again that a rule names.
  set_fields(now, frame, true);
  if (!std::equal(frame.begin(), frame.end(), packet.bytes().begin(), packet.bytes().end())) ++counts_.changed;
  frames_.push_back({frame, length, packet.is_roce()});
}

}  // namespace roce::replay
