// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roce/wire/bth.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/header.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/udp.h"

namespace roce {

/// The header that a frame begins with; the numbers are those of the tcpdump.org link-type registry.
enum class LinkType : std::uint16_t {
  ethernet = 1,
  raw_ip_bsd = 12,
  raw_ip_openbsd = 14,
  raw_ip = 101,
  linux_sll = 113,
  ipv4 = 228,
  ipv6 = 229,
  linux_sll2 = 276,
};

/// The kind of a parsed frame.
enum class PacketKind : std::uint8_t {
  other,        ///< none of the kinds below
  roce,         ///< a BTH was found (RoCE v1 or v2)
  pfc,          ///< 802.1Qbb priority flow control
  pause,        ///< 802.3x pause
  mac_control,  ///< another MAC control opcode
  lldp,
  cnm,  ///< 802.1Qau congestion notification message
};

/// One header of a packet: its offset from the start of the parsed bytes and its size, in bytes.
struct Layer {
  std::uint32_t offset;
  std::uint16_t size;
  HeaderId id;

  friend constexpr bool operator==(const Layer&, const Layer&) = default;
};

/// The headers of a packet, outermost first: an array with a length, to be walked or indexed.
class LayerList {
 public:
  static constexpr std::size_t kCapacity = 40;

  [[nodiscard]] const Layer* begin() const { return layers_.data(); }
  [[nodiscard]] const Layer* end() const { return layers_.data() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const Layer& operator[](std::size_t i) const { return layers_[i]; }
  [[nodiscard]] const Layer& back() const { return layers_[size_ - 1]; }

  void push_back(const Layer& layer) { layers_[size_++] = layer; }

 private:
  std::array<Layer, kCapacity> layers_{};
  std::size_t size_ = 0;
};

namespace detail {

/// True if a header is the BTH or one that the opcode determines.
[[nodiscard]] constexpr bool is_transport_header(HeaderId id) {
  return id >= HeaderId::bth && id <= HeaderId::cnp;
}

/// The headers of an opcode as layers with offsets from the BTH, the BTH first. One object fills a cache line.
struct alignas(64) HeaderChain {
  static constexpr std::uint8_t kAbsent = 0xFF;

  /// Offset of each transport header from the BTH, or `kAbsent`; indexed from `HeaderId::bth`.
  std::array<std::uint8_t, static_cast<std::size_t>(HeaderId::cnp) - static_cast<std::size_t>(HeaderId::bth) + 1>
      offsets{};
  std::array<Layer, 5> layers{};
  std::uint8_t bytes = 0;
  std::uint8_t count = 0;
  bool is_datagram = false;  ///< may carry a management datagram
};

[[nodiscard]] constexpr std::array<HeaderChain, 256> make_header_chains() {
  std::array<HeaderChain, 256> chains{};
  for (std::size_t code = 0; code < chains.size(); ++code) {
    HeaderChain& chain = chains[code];
    chain.offsets.fill(HeaderChain::kAbsent);
    const auto append = [&](HeaderId id, std::size_t size) {
      chain.offsets[static_cast<std::size_t>(id) - static_cast<std::size_t>(HeaderId::bth)] = chain.bytes;
      chain.layers[chain.count++] = {chain.bytes, static_cast<std::uint16_t>(size), id};
      chain.bytes = static_cast<std::uint8_t>(chain.bytes + size);
    };
    const OpcodeInfo& info = kOpcodeTable[code];
    append(HeaderId::bth, kSize<Bth>);
    for (const HeaderId id : info.headers()) append(id, transport_header_size(id));
    chain.is_datagram = info.service == Service::ud;
  }
  return chains;
}

inline constexpr std::array<HeaderChain, 256> kHeaderChains = make_header_chains();

}  // namespace detail

/// A view of one parsed frame or transport packet. It refers to the parsed bytes, which must outlive it,
/// and never to bytes beyond those captured. A packet that could not be parsed to its end holds
/// the part that could be parsed, and `problem()` reports what stopped the parser.
class Packet {
 public:
  /// The most headers that are followed in front of and behind the transport headers.
  static constexpr std::size_t kMaxLayers = 32;

  /// Returns the parsed bytes.
  [[nodiscard]] Bytes bytes() const { return {data_, captured_}; }
  /// Returns the packet's length on the wire, at least `bytes().size()`; longer if a snap length cut the capture.
  [[nodiscard]] std::uint32_t reported_length() const { return reported_; }

  [[nodiscard]] PacketKind kind() const { return kind_; }
  [[nodiscard]] RoceVersion version() const { return version_; }
  [[nodiscard]] bool is_roce() const { return kind_ == PacketKind::roce; }
  /// Returns the problem that stopped the parser, with reason `none` if there was none.
  [[nodiscard]] const ParseError& problem() const { return problem_; }

  /// Returns all headers, outermost first. Headers inside a payload (a MAD) follow those of the transport;
  /// a header that lies inside another (the CMA header inside a CM REQ) follows the one that contains it.
  [[nodiscard]] LayerList layers() const;
  /// Returns the innermost header of a kind, if the packet has one.
  [[nodiscard]] std::optional<Layer> find(HeaderId id) const;
  /// Returns the innermost header `H` as a value, if the packet has one.
  template <HeaderType H>
  [[nodiscard]] std::optional<H> get() const {
    if constexpr (detail::is_transport_header(kHeader<H>.id)) {
      const std::uint8_t offset = transport_header_offset(kHeader<H>.id);
      if (offset == detail::HeaderChain::kAbsent) return std::nullopt;
      return read<H>(data_ + bth_offset_ + offset);
    } else {
      const std::optional<Layer> layer = find(kHeader<H>.id);
      if (!layer) return std::nullopt;
      return read<H>(data_ + layer->offset);
    }
  }
  /// Returns the bytes of a header; a header is in `layers()` only if all of it was captured.
  [[nodiscard]] Bytes layer_bytes(const Layer& layer) const { return {data_ + layer.offset, layer.size}; }

  /// Returns the BTH; only if `is_roce()`.
  [[nodiscard]] Bth bth() const { return read<Bth>(data_ + bth_offset_); }
  /// Returns the offset of the BTH; only if `is_roce()`.
  [[nodiscard]] std::uint32_t bth_offset() const { return bth_offset_; }
  /// Returns the opcode; only if `is_roce()`.
  [[nodiscard]] Opcode opcode() const { return FieldOf<&Bth::opcode>::get(data_ + bth_offset_); }
  [[nodiscard]] const OpcodeInfo& info() const { return opcode_info(opcode()); }

  /// Returns the payload of the transport, between its headers and the pad, as far as it was captured.
  /// For other kinds: the bytes that follow the last header.
  [[nodiscard]] Bytes payload() const { return captured_part(payload_offset_, payload_size_); }
  [[nodiscard]] std::uint32_t payload_offset() const { return payload_offset_; }
  /// Returns the payload's length on the wire, in bytes.
  [[nodiscard]] std::uint32_t payload_length() const { return payload_size_; }
  /// Returns the pad bytes, as far as they were captured.
  [[nodiscard]] Bytes pad() const { return captured_part(payload_offset_ + payload_size_, pad_size_); }
  /// True if the place of the ICRC is known and its four bytes were captured.
  [[nodiscard]] bool has_icrc() const { return has_icrc_; }
  /// Returns the offset of the ICRC; only if `has_icrc()`.
  [[nodiscard]] std::uint32_t icrc_offset() const { return payload_offset_ + payload_size_ + pad_size_; }
  /// Returns the ICRC as it is on the wire, first byte in the low bits; only if `has_icrc()`.
  [[nodiscard]] std::uint32_t stored_icrc() const {
    return __builtin_bswap32(static_cast<std::uint32_t>(load_big_endian<4>(data_ + icrc_offset())));
  }
  /// Returns the bytes after the packet: Ethernet padding, an FCS.
  [[nodiscard]] Bytes trailer() const;

  /// Returns the offset of the header that the ICRC begins with (IPv4, IPv6 or GRH), and its kind;
  /// `none` if the packet was parsed from its BTH.
  [[nodiscard]] std::uint32_t network_offset() const { return network_offset_; }
  [[nodiscard]] HeaderId network_header() const { return network_id_; }

  /// Returns addresses, marks and ports: read from the headers in front of the BTH, or as given to `parse_transport`.
  [[nodiscard]] NetMeta net() const;
  /// Returns DSCP << 2 | ECN, as in `net()`; only if `is_roce()`.
  [[nodiscard]] std::uint8_t traffic_class() const;
  /// Returns the innermost VLAN tag, as in `net()`.
  [[nodiscard]] std::optional<std::uint16_t> vlan_tci() const { return is_usual_ ? std::nullopt : find_vlan_tci(); }
  /// True if `net()` would return this version, source and destination (IPv4-mapped with `v2_ipv4`); costs less.
  [[nodiscard]] bool is_between(RoceVersion version, const Gid& source, const Gid& destination) const {
    if (!is_usual_) return is_between_layers(version, source, destination);
    const std::byte* ip = data_ + kSize<Ethernet>;
    return version == RoceVersion::v2_ipv4 && FieldOf<&Ipv4::source>::get(ip) == source.ipv4() &&
           FieldOf<&Ipv4::destination>::get(ip) == destination.ipv4();
  }

 private:
  friend class PacketParser;
  friend Packet parse_frame(Bytes, LinkType, std::uint32_t);
  friend Packet parse_transport(Bytes, const NetMeta&, std::uint32_t);

  // The members are deliberately not initialised: setting them twice would cost as much as parsing.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  Packet() {}

  [[nodiscard]] const detail::HeaderChain& chain() const { return detail::kHeaderChains[chain_]; }
  /// Returns the offset from the BTH, or `kAbsent`.
  [[nodiscard]] std::uint8_t transport_header_offset(HeaderId id) const {
    const std::uint8_t offset = chain().offsets[static_cast<std::size_t>(id) - static_cast<std::size_t>(HeaderId::bth)];
    return offset < chain_bytes_ ? offset : detail::HeaderChain::kAbsent;
  }
  /// Parses the usual stack (Ethernet, IPv4 without options, UDP to the RoCE port, nothing cut or inconsistent) in one
  /// step, with the result of `parse_layers`; returns false, with nothing of use in the packet, for any other. Parsing
  /// layer by layer costs four times as much, as each layer waits for the one before, and a call half as much again.
  [[nodiscard]] bool parse_usual(Bytes captured, std::uint32_t reported_length);
  [[nodiscard]] std::optional<std::uint16_t> find_vlan_tci() const;
  [[nodiscard]] bool is_between_layers(RoceVersion version, const Gid& source, const Gid& destination) const;
  void parse_layers(Bytes captured, LinkType link_type, std::uint32_t reported_length);
  [[nodiscard]] const Layer* stored_layers() const { return is_usual_ ? kUsualLayers.data() : layers_.data(); }
  [[nodiscard]] Bytes captured_part(std::uint32_t offset, std::uint32_t size) const {
    if (offset >= captured_) return {};
    const std::uint32_t there = captured_ - offset;
    return {data_ + offset, size < there ? size : there};
  }

  static constexpr std::array<Layer, 3> kUsualLayers{{{0, kSize<Ethernet>, HeaderId::ethernet},
                                                      {kSize<Ethernet>, kSize<Ipv4>, HeaderId::ipv4},
                                                      {kSize<Ethernet> + kSize<Ipv4>, kSize<Udp>, HeaderId::udp}}};

  const std::byte* data_;
  std::uint32_t captured_;
  std::uint32_t reported_;
  std::uint32_t payload_offset_;
  std::uint32_t payload_size_;
  std::uint8_t pad_size_;
  std::uint8_t chain_;        ///< the opcode, which determines the transport headers; 0 without a BTH
  std::uint8_t chain_bytes_;  ///< bytes of the transport headers that are present, the BTH included; 0 without a BTH
  // Constants of the usual stack are adjacent, so that they are stored together.
  std::uint8_t layer_count_;  ///< layers in front of and behind the transport headers
  std::uint8_t outer_count_;  ///< layers of those that are in front of the BTH
  PacketKind kind_;
  RoceVersion version_;
  HeaderId network_id_;
  bool has_icrc_;
  std::uint32_t bth_offset_;
  std::uint32_t network_offset_;
  ParseError problem_{};
  bool is_usual_ = false;  ///< The layers are `kUsualLayers`, not `layers_`.
  std::optional<NetMeta> net_;
  std::array<Layer, kMaxLayers> layers_;  ///< without the transport headers, which follow from the opcode
};

inline bool Packet::parse_usual(Bytes captured, std::uint32_t reported_length) {
  constexpr std::uint32_t icrc_size = 4;
  constexpr auto ip_start = static_cast<std::uint32_t>(kSize<Ethernet>);
  constexpr auto udp_start = ip_start + static_cast<std::uint32_t>(kSize<Ipv4>);
  constexpr auto bth_start = udp_start + static_cast<std::uint32_t>(kSize<Udp>);
  const auto size = static_cast<std::uint32_t>(captured.size());
  if (size < bth_start + kSize<Bth>) return false;
  const std::byte* ethernet = captured.data();
  const std::byte* ip = ethernet + ip_start;
  const std::byte* udp = ethernet + udp_start;
  const std::byte* bth = ethernet + bth_start;
  constexpr std::byte version_and_length{0x45};
  if (FieldOf<&Ethernet::ether_type>::get(ethernet) != EtherType::ipv4 || ip[0] != version_and_length ||
      FieldOf<&Ipv4::protocol>::get(ip) != IpProtocol::udp || FieldOf<&Udp::destination_port>::get(udp) != kRocePort ||
      is_ipv4_fragment(ip)) {
    return false;
  }
  const std::uint32_t total_length = FieldOf<&Ipv4::total_length>::get(ip);
  const std::uint32_t end = ip_start + total_length;
  const detail::HeaderChain& chain = detail::kHeaderChains[std::to_integer<std::size_t>(bth[0])];
  const std::uint32_t payload_start = bth_start + chain.bytes;
  const std::uint8_t pad_count = FieldOf<&Bth::pad_count>::get(bth);
  if (total_length != kSize<Ipv4> + FieldOf<&Udp::length>::get(udp) || end > size ||
      payload_start + pad_count + icrc_size > end ||
      (chain.is_datagram && FieldOf<&Bth::dest_qp>::get(bth) == Qpn{1})) {
    return false;
  }
  data_ = captured.data();
  captured_ = size;
  reported_ = size < reported_length ? reported_length : size;
  bth_offset_ = bth_start;
  network_offset_ = ip_start;
  payload_offset_ = payload_start;
  payload_size_ = end - payload_start - pad_count - icrc_size;
  pad_size_ = pad_count;
  layer_count_ = outer_count_ = 3;
  chain_ = static_cast<std::uint8_t>(bth[0]);
  chain_bytes_ = chain.bytes;
  kind_ = PacketKind::roce;
  version_ = RoceVersion::v2_ipv4;
  network_id_ = HeaderId::ipv4;
  has_icrc_ = true;
  is_usual_ = true;
  return true;
}

/// Parses a captured frame from its first byte. `reported_length` is the frame's length on the wire;
/// 0 or any value below the captured length means that all of it was captured. Never fails: see `Packet::problem()`.
[[nodiscard]] inline Packet parse_frame(Bytes captured, LinkType link_type, std::uint32_t reported_length = 0) {
  Packet packet;
  if (link_type != LinkType::ethernet || !packet.parse_usual(captured, reported_length)) [[unlikely]] {
    packet.parse_layers(captured, link_type, reported_length);
  }
  return packet;
}

/// Parses a transport packet from its BTH through its ICRC; `net` describes the headers in front of it.
/// `reported_length` is as in `parse_frame`.
[[nodiscard]] Packet parse_transport(Bytes captured, const NetMeta& net, std::uint32_t reported_length = 0);

}  // namespace roce
