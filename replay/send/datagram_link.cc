// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/datagram_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "roce/link/udp_link.h"
#include "roce/port/udp_meta.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/frame_layers.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/ipv6.h"

namespace roce::replay {

namespace {

constexpr std::size_t kIcrcBytes = 4;

}  // namespace

bool is_datagram(const Packet& packet) {
  const bool is_v2 = packet.version() == RoceVersion::v2_ipv4 || packet.version() == RoceVersion::v2_ipv6;
  return packet.is_roce() && is_v2 && packet.has_icrc() && packet.problem().reason == ParseReason::none;
}

Outcome<std::unique_ptr<DatagramLink>> DatagramLink::open(const port::Interface& interface) {
  if (interface.addresses.empty()) {
    return cannot(
        fmt::format("--link udp sends from the addresses of {}, which has none: ip address add ADDRESS dev {}",
                    interface.name, interface.name));
  }
  std::unique_ptr<DatagramLink> made{new DatagramLink};
  std::string problem;
  for (const port::InterfaceAddress& address : interface.addresses) {
    link::UdpLinkOptions options;
    options.local = port::address_of(address.gid);
    options.interface = interface.name;
    auto opened = link::UdpLink::open(options);
    if (opened) {
      made->owns_.push_back({address.gid, std::move(*opened)});
    } else if (problem.empty()) {
      problem = opened.error().message;
    }
  }
  // An IPv6 address that is still being checked for duplicates cannot be used yet; frames from it are reported.
  if (made->owns_.empty()) return cannot(problem);
  return made;
}

std::vector<Gid> DatagramLink::addresses() const {
  std::vector<Gid> all;
  all.reserve(owns_.size());
  for (const Own& own : owns_) all.push_back(own.address);
  return all;
}

std::size_t DatagramLink::max_bytes() const {
  std::size_t most = 0;
  for (const Own& own : owns_) {
    const std::size_t network = own.address.is_ipv4_mapped() ? kSize<Ipv4> : kSize<Ipv6>;
    most = std::max(most, kSize<Ethernet> + network + kSize<Udp> + own.link->max_bytes());
  }
  return most;
}

link::LinkResult<std::size_t> DatagramLink::receive(std::span<link::RxFrame> /*frames*/) {
  for (const Own& own : owns_) {
    if (auto received = own.link->receive({}); !received) return received;
  }
  return std::size_t{0};
}

DatagramLink::Own* DatagramLink::prepare(Bytes frame, std::size_t place) {
  const Packet whole = parse_frame(frame, LinkType::ethernet);
  if (!is_datagram(whole)) return nullptr;
  const NetMeta said = whole.net();
  const auto own = std::find_if(owns_.begin(), owns_.end(), [&](const Own& one) { return one.address == said.source; });
  if (own == owns_.end()) return nullptr;
  const Bytes from_network = frame.subspan(whole.network_offset());
  const Packet packet = parse_frame(from_network, LinkType::raw_ip);
  const FrameSeal seal{packet};
  std::vector<std::byte>& buffer = buffers_[place];
  buffer.assign(from_network.begin(), from_network.end());
  NetMeta net = said;
  net.ip_id = 0;
  net.dont_fragment = true;
  net.udp_source_port = own->link->source_port(said.udp_source_port);
  if (!change_network(packet, net, 0, buffer)) return nullptr;
  const Packet written = parse_frame(buffer, LinkType::raw_ip);
  seal.renew(written, buffer, WrongCheck::keep, WrongCheck::keep);
  const std::size_t size = written.icrc_offset() + kIcrcBytes - written.bth_offset();
  run_[place] = {.bytes = Bytes{buffer}.subspan(written.bth_offset(), size), .udp = port::udp_of(net)};
  return &*own;
}

link::LinkResult<std::size_t> DatagramLink::send(std::span<const link::TxFrame> frames) {
  std::size_t done = 0;
  while (done < frames.size()) {
    // Collect the frames that leave by the same socket.
    Own* own = nullptr;
    std::size_t count = 0;
    for (; count < kBatch && done + count < frames.size(); ++count) {
      Own* const next = prepare(frames[done + count].bytes, count);
      if (count != 0 && next != own) break;
      own = next;
      if (own == nullptr) break;
    }
    if (own == nullptr) {
      ++unsendable_;
      ++done;
      continue;
    }
    link::LinkResult<std::size_t> taken = own->link->send(std::span{run_}.first(count));
    if (!taken) return taken;
    done += *taken;
    if (*taken < count) break;
  }
  return done;
}

link::LinkCounters DatagramLink::counters() const {
  link::LinkCounters sum;
  for (const Own& own : owns_) {
    const link::LinkCounters one = own.link->counters();
    sum.sent += one.sent;
    sum.sent_bytes += one.sent_bytes;
    sum.send_errors += one.send_errors;
  }
  sum.send_errors += unsendable_;
  return sum;
}

}  // namespace roce::replay
