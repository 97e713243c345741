// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "roce/wire/all_headers.h"
#include "roce/wire/packet.h"
#include "support/reference_icrc.h"

namespace roce::test {

inline std::vector<std::byte> random_bytes(std::size_t size, std::mt19937& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  return bytes;
}

/// Returns a header of random bits.
template <HeaderType H>
H random_header(std::mt19937& random) {
  return read<H>(random_bytes(kSize<H>, random).data());
}

template <HeaderType H>
std::vector<std::byte> written(const H& header) {
  std::vector<std::byte> bytes(kSize<H>);
  write(header, bytes.data());
  return bytes;
}

inline void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// A frame that is put together from the inside out, so that each length field is known when its header is put in
/// front. It keeps the list of its layers. Fields without structure are random.
class FrameStack {
 public:
  /// Begins with the transport headers, one by one.
  explicit FrameStack(std::mt19937& random) : random_(random) {}

  /// Puts a header behind what is there, as for the transport headers, the BTH first.
  template <HeaderType H>
  FrameStack& put(const H& header) {
    return put(kHeader<H>.id, written(header));
  }
  FrameStack& put(HeaderId id, std::span<const std::byte> bytes) {
    append(bytes_, bytes);
    layers_.emplace_back(id, bytes.size());
    return *this;
  }
  /// Puts payload, pad and room for the ICRC behind what is there.
  FrameStack& payload(std::span<const std::byte> payload, std::size_t pad = 0) {
    append(bytes_, payload);
    append(bytes_, random_bytes(pad, random_));
    pad_ = pad;
    bytes_.resize(bytes_.size() + 4);
    return *this;
  }

  /// Puts a header in front.
  template <HeaderType H>
  FrameStack& wrap(const H& header) {
    return wrap(kHeader<H>.id, written(header));
  }
  FrameStack& wrap(HeaderId id, std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.begin(), bytes.begin(), bytes.end());
    layers_.emplace(layers_.begin(), id, bytes.size());
    front_ += bytes.size();
    return *this;
  }

  FrameStack& udp(std::uint16_t port = kRocePort) {
    auto udp = random_header<Udp>(random_);
    udp.destination_port = port;
    udp.length = static_cast<std::uint16_t>(size() + kSize<Udp>);
    return wrap(udp);
  }
  /// Puts an IPv4 header in front, with `option_words` times 4 bytes of options.
  FrameStack& ipv4(IpProtocol protocol = IpProtocol::udp, std::uint8_t option_words = 0) {
    auto ip = random_header<Ipv4>(random_);
    ip.version = 4;
    ip.header_length = static_cast<std::uint8_t>(5 + option_words);
    ip.total_length = static_cast<std::uint16_t>(size() + kSize<Ipv4> + option_words * 4U);
    ip.more_fragments = false;
    ip.fragment_offset = 0;
    ip.protocol = protocol;
    if (option_words != 0) wrap(HeaderId::ipv4_options, random_bytes(option_words * 4U, random_));
    return wrap(ip);
  }
  FrameStack& ipv6(IpProtocol next = IpProtocol::udp) {
    auto ip = random_header<Ipv6>(random_);
    ip.version = 6;
    ip.payload_length = static_cast<std::uint16_t>(size());
    ip.next_header = next;
    return wrap(ip);
  }
  /// Puts an IPv6 extension header of `8 * (1 + words)` bytes in front. (An authentication header counts in fours.)
  FrameStack& ipv6_extension(IpProtocol next, std::uint8_t words) {
    auto bytes = random_bytes(8 + 8U * words, random_);
    bytes[0] = static_cast<std::byte>(next);
    bytes[1] = std::byte{words};
    return wrap(HeaderId::ipv6_extension, bytes);
  }
  FrameStack& grh() {
    auto grh = random_header<Grh>(random_);
    grh.version = 6;
    grh.payload_length = static_cast<std::uint16_t>(size());
    grh.next_header = IpProtocol::grh_bth;
    return wrap(grh);
  }
  FrameStack& ethernet(EtherType type) {
    auto ethernet = random_header<Ethernet>(random_);
    ethernet.ether_type = type;
    return wrap(ethernet);
  }

  /// Computes the ICRC; the network header that it begins with has to be in front.
  FrameStack& seal(NetworkKind network, const std::set<IcrcMistake>& mistakes = {}) {
    network_from_front_ = front_;
    const std::span<const std::byte> covered{bytes_.data(), bytes_.size() - 4};
    store(reference_icrc(covered, network, front_, mistakes, pad_));
    return *this;
  }
  /// Stores an ICRC; only before anything follows it.
  void store(std::uint32_t icrc) { std::ranges::copy(icrc_bytes(icrc), bytes_.end() - 4); }

  /// Puts bytes behind the packet: Ethernet padding, an FCS.
  FrameStack& trailer(std::size_t size) {
    append(bytes_, random_bytes(size, random_));
    return *this;
  }

  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::size_t bth_offset() const { return front_; }
  [[nodiscard]] std::size_t network_offset() const { return front_ - network_from_front_; }
  [[nodiscard]] std::mt19937& random() { return random_; }
  [[nodiscard]] std::vector<Layer> layers() const {
    std::vector<Layer> layers;
    std::size_t offset = 0;
    for (const auto& [id, size] : layers_) {
      layers.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint16_t>(size), id});
      offset += size;
    }
    return layers;
  }

 private:
  std::mt19937& random_;
  std::vector<std::byte> bytes_;
  std::vector<std::pair<HeaderId, std::size_t>> layers_;
  std::size_t front_ = 0;               ///< bytes in front of the BTH
  std::size_t network_from_front_ = 0;  ///< the part of those that the ICRC covers
  std::size_t pad_ = 0;
};

/// A way to carry a transport packet, from the BTH to the network header that the ICRC begins with.
struct Carrier {
  std::string_view name;
  RoceVersion version;
  NetworkKind network;
  EtherType ether_type;
  void (*wrap)(FrameStack&);
};

inline constexpr std::array kCarriers{
    Carrier{"V1", RoceVersion::v1, NetworkKind::grh, EtherType::roce_v1, [](FrameStack& s) { s.grh(); }},
    Carrier{"V2Ipv4", RoceVersion::v2_ipv4, NetworkKind::ipv4, EtherType::ipv4, [](FrameStack& s) { s.udp().ipv4(); }},
    Carrier{"V2Ipv4Options", RoceVersion::v2_ipv4, NetworkKind::ipv4, EtherType::ipv4,
            [](FrameStack& s) { s.udp().ipv4(IpProtocol::udp, static_cast<std::uint8_t>(1 + s.random()() % 10)); }},
    Carrier{"V2Ipv6", RoceVersion::v2_ipv6, NetworkKind::ipv6, EtherType::ipv6, [](FrameStack& s) { s.udp().ipv6(); }},
    Carrier{"V2Ipv6HopByHop", RoceVersion::v2_ipv6, NetworkKind::ipv6, EtherType::ipv6,
            [](FrameStack& s) { s.udp().ipv6_extension(IpProtocol::udp, 0).ipv6(IpProtocol::hop_by_hop); }},
    Carrier{"V2Ipv6Chain", RoceVersion::v2_ipv6, NetworkKind::ipv6, EtherType::ipv6,
            [](FrameStack& s) {
              s.udp().ipv6_extension(IpProtocol::udp, 3);
              // An authentication header of (2 + 2) * 4 bytes.
              auto authentication = random_bytes(16, s.random());
              authentication[0] = static_cast<std::byte>(IpProtocol::destination_options);
              authentication[1] = std::byte{2};
              s.wrap(HeaderId::ipv6_extension, authentication);
              // A fragment header of a packet that is not fragmented.
              auto fragment = random_bytes(8, s.random());
              fragment[0] = static_cast<std::byte>(IpProtocol::authentication);
              fragment[2] = fragment[3] = std::byte{0};
              s.wrap(HeaderId::ipv6_extension, fragment);
              s.ipv6_extension(IpProtocol::fragment, 1).ipv6(IpProtocol::routing);
            }},
};

/// Something that may lie in front of the network header.
struct Outer {
  std::string_view name;
  LinkType link_type;
  bool ip_only;  ///< cannot carry RoCE v1
  void (*wrap)(FrameStack&, EtherType);
};

/// Wraps a VLAN tag and returns the EtherType that announces it.
inline EtherType wrap_vlan(FrameStack& s, EtherType inner, EtherType announced = EtherType::vlan) {
  auto tag = random_header<VlanTag>(s.random());
  tag.ether_type = inner;
  s.wrap(tag);
  return announced;
}

inline void wrap_mpls(FrameStack& s, unsigned labels) {
  for (unsigned i = 0; i < labels; ++i) {
    auto label = random_header<MplsLabel>(s.random());
    label.bottom = i == 0;
    s.wrap(label);
  }
}

inline void wrap_gre(FrameStack& s, EtherType inner, unsigned optional_fields) {
  Gre gre;
  gre.has_checksum = (optional_fields & 1) != 0;
  gre.has_key = (optional_fields & 2) != 0;
  gre.has_sequence = (optional_fields & 4) != 0;
  gre.reserved = static_cast<std::uint16_t>(s.random()() & 0x1FF);
  gre.protocol = inner;
  const std::size_t words = (gre.has_checksum ? 1U : 0U) + (gre.has_key ? 1U : 0U) + (gre.has_sequence ? 1U : 0U);
  if (words != 0) s.wrap(HeaderId::gre_options, random_bytes(4 * words, s.random()));
  s.wrap(gre);
}

inline void wrap_geneve(FrameStack& s, EtherType inner, std::uint8_t option_words) {
  auto geneve = random_header<Geneve>(s.random());
  geneve.option_length = option_words;
  geneve.protocol = inner;
  if (option_words != 0) s.wrap(HeaderId::geneve_options, random_bytes(option_words * 4U, s.random()));
  s.wrap(geneve).udp(kGenevePort);
}

inline constexpr std::array kOuters{
    Outer{"Ethernet", LinkType::ethernet, false, [](FrameStack& s, EtherType t) { s.ethernet(t); }},
    Outer{"Vlan", LinkType::ethernet, false, [](FrameStack& s, EtherType t) { s.ethernet(wrap_vlan(s, t)); }},
    Outer{"Vlan3", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            t = wrap_vlan(s, t);
            t = wrap_vlan(s, t, EtherType::qinq_old);
            s.ethernet(wrap_vlan(s, t, EtherType::provider_vlan));
          }},
    Outer{"Vlan10", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            for (int i = 0; i < 10; ++i) t = wrap_vlan(s, t);
            s.ethernet(t);
          }},
    Outer{"CnTag", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            auto tag = random_header<CnTag>(s.random());
            tag.ether_type = t;
            s.wrap(tag).ethernet(wrap_vlan(s, EtherType::cn_tag));
          }},
    Outer{"LinuxCooked1", LinkType::linux_sll, false,
          [](FrameStack& s, EtherType t) {
            auto header = random_header<LinuxSll>(s.random());
            header.ether_type = t;
            s.wrap(header);
          }},
    Outer{"LinuxCooked2", LinkType::linux_sll2, false,
          [](FrameStack& s, EtherType t) {
            t = wrap_vlan(s, t);
            auto header = random_header<LinuxSll2>(s.random());
            header.ether_type = t;
            s.wrap(header);
          }},
    Outer{"RawIp", LinkType::raw_ip, true, [](FrameStack&, EtherType) {}},
    Outer{"RawIpBsd", LinkType::raw_ip_bsd, true, [](FrameStack&, EtherType) {}},
    Outer{"VxlanOverIpv4", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            s.ethernet(wrap_vlan(s, t)).wrap(random_header<Vxlan>(s.random())).udp(kVxlanPort).ipv4();
            s.ethernet(EtherType::ipv4);
          }},
    Outer{"VxlanOverIpv6", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            s.ethernet(t).wrap(random_header<Vxlan>(s.random())).udp(kVxlanPort).ipv6().ethernet(EtherType::ipv6);
          }},
    Outer{"Geneve", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            s.ethernet(t);
            wrap_geneve(s, EtherType::transparent_ethernet, 0);
            s.ipv4().ethernet(EtherType::ipv4);
          }},
    Outer{"GeneveOptionsIp", LinkType::ethernet, true,
          [](FrameStack& s, EtherType t) {
            wrap_geneve(s, t, static_cast<std::uint8_t>(1 + s.random()() % 63));
            s.ipv6().ethernet(EtherType::ipv6);
          }},
    Outer{"Gre", LinkType::ethernet, true,
          [](FrameStack& s, EtherType t) {
            wrap_gre(s, t, s.random()() % 8);
            s.ipv4(IpProtocol::gre).ethernet(EtherType::ipv4);
          }},
    Outer{"GreEthernet", LinkType::raw_ip, false,
          [](FrameStack& s, EtherType t) {
            s.ethernet(t);
            wrap_gre(s, EtherType::transparent_ethernet, s.random()() % 8);
            s.ipv6(IpProtocol::gre);
          }},
    Outer{"Erspan1", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            s.ethernet(t);
            wrap_gre(s, EtherType::erspan2, 0);
            s.ipv4(IpProtocol::gre).ethernet(EtherType::ipv4);
          }},
    Outer{"Erspan2", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            s.ethernet(t).wrap(random_header<Erspan2>(s.random()));
            wrap_gre(s, EtherType::erspan2, 4);
            s.ipv4(IpProtocol::gre).ethernet(EtherType::ipv4);
          }},
    Outer{"Erspan3", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            auto erspan = random_header<Erspan3>(s.random());
            erspan.has_subheader = false;
            s.ethernet(t).wrap(erspan);
            wrap_gre(s, EtherType::erspan3, 4);
            s.ipv4(IpProtocol::gre).ethernet(EtherType::ipv4);
          }},
    Outer{"Erspan3Subheader", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            auto erspan = random_header<Erspan3>(s.random());
            erspan.has_subheader = true;
            s.ethernet(t).wrap(HeaderId::erspan3_subheader, random_bytes(8, s.random())).wrap(erspan);
            wrap_gre(s, EtherType::erspan3, 4 + s.random()() % 4);
            s.ipv4(IpProtocol::gre, 2).ethernet(EtherType::ipv4);
          }},
    Outer{"Mpls", LinkType::ethernet, true,
          [](FrameStack& s, EtherType) {
            wrap_mpls(s, 3);
            s.ethernet(EtherType::mpls);
          }},
    Outer{"MplsPseudowire", LinkType::ethernet, false,
          [](FrameStack& s, EtherType t) {
            auto control = random_bytes(4, s.random());
            control[0] &= std::byte{0x0F};
            s.ethernet(t).wrap(HeaderId::pw_control_word, control);
            wrap_mpls(s, 1);
            s.ethernet(EtherType::mpls_multicast);
          }},
    Outer{"MplsOverUdp", LinkType::ethernet, true,
          [](FrameStack& s, EtherType) {
            wrap_mpls(s, 2);
            s.udp(kMplsPort).ipv4().ethernet(EtherType::ipv4);
          }},
    Outer{"MplsOverIp", LinkType::ethernet, true,
          [](FrameStack& s, EtherType) {
            wrap_mpls(s, 1);
            s.ipv4(IpProtocol::mpls).ethernet(EtherType::ipv4);
          }},
    Outer{"IpInIpv4", LinkType::ethernet, true,
          [](FrameStack& s, EtherType t) {
            s.ipv4(t == EtherType::ipv4 ? IpProtocol::ipv4 : IpProtocol::ipv6).ethernet(EtherType::ipv4);
          }},
    Outer{"IpInIpv6", LinkType::ethernet, true,
          [](FrameStack& s, EtherType t) {
            const IpProtocol inner = t == EtherType::ipv4 ? IpProtocol::ipv4 : IpProtocol::ipv6;
            s.ipv6_extension(inner, 0).ipv6(IpProtocol::destination_options).ethernet(EtherType::ipv6);
          }},
};

}  // namespace roce::test
