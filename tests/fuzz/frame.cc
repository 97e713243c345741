// SPDX-License-Identifier: BSD-2-Clause
// Parses any bytes as a frame of any link type and as a transport packet, calls every accessor, and checks the promises
// of each. Input: a byte for the link type, two for how much longer the frame was on the wire, the frame.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "roce/wire/all_headers.h"
#include "roce/wire/icmp_error.h"
#include "roce/wire/icrc.h"
#include "roce/wire/neighbour_message.h"
#include "roce/wire/visit.h"
#include "support/both_paths.h"
#include "support/packet_equality.h"

namespace {

using roce::Bytes;
using roce::HeaderId;
using roce::HeaderInfo;
using roce::IcrcStatus;
using roce::Packet;

constexpr std::array kLinkTypes{roce::LinkType::ethernet,       roce::LinkType::raw_ip, roce::LinkType::linux_sll,
                                roce::LinkType::linux_sll2,     roce::LinkType::ipv4,   roce::LinkType::ipv6,
                                roce::LinkType::raw_ip_openbsd, roce::LinkType{0xFFFF}};

void require(bool holds) {
  if (!holds) std::abort();
}

void require_inside(Bytes part, Bytes whole) {
  require(part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size()));
}

/// Checks that a header, read into its struct and written from it, has the same bytes.
void check_header(const HeaderInfo& info, Bytes bytes) {
  roce::AllHeaders::for_each([&]<typename H>() {
    if (roce::kHeader<H>.id != info.id) return;
    require(bytes.size() == roce::kSize<H>);
    std::array<std::byte, roce::kSize<H>> out;
    roce::write(roce::read<H>(bytes.data()), out.data());
    require(std::equal(out.begin(), out.end(), bytes.begin()));
  });
  for (const roce::FieldInfo& field : info.fields) {
    const std::string text = roce::field_text(field, bytes);
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    require(roce::set_field_text(field, copy, text).has_value());
    require(std::equal(copy.begin(), copy.end(), bytes.begin()));
  }
}

void check_packet(const Packet& packet, Bytes given) {
  require(packet.bytes().data() == given.data() && packet.bytes().size() == given.size());
  require(packet.reported_length() >= given.size());
  std::size_t last_end = 0;
  const roce::LayerList layers = packet.layers();
  for (const roce::Layer& layer : layers) {
    require(std::size_t{layer.offset} + layer.size <= given.size());
    // Layers lie behind each other, except one that is inside another.
    require(layer.offset >= last_end || layer.id == HeaderId::cma);
    last_end = layer.offset + layer.size;
    require(packet.find(layer.id).has_value());
  }
  roce::visit_headers(packet, [&](const HeaderInfo& info, Bytes bytes, std::size_t offset) {
    require(bytes.data() == given.data() + offset && offset + bytes.size() <= given.size());
    check_header(info, bytes);
  });
  for (const Bytes part : {packet.payload(), packet.pad(), packet.trailer()}) require_inside(part, given);
  require(packet.payload().size() <= packet.payload_length());
  require(!to_string(packet.problem()).empty());
  static_cast<void>(packet.net());
  if (packet.is_roce()) {
    require(packet.bth_offset() + roce::kSize<roce::Bth> <= given.size());
    require(packet.get<roce::Bth>() == packet.bth() && packet.bth().opcode == packet.opcode());
  }
  const roce::IcrcVerdict verdict = check_icrc(packet);
  require(packet.has_icrc() == (verdict.status != IcrcStatus::not_checked));
  require((verdict.status == IcrcStatus::not_checked) == (verdict.reason != roce::IcrcUnchecked::none));
  if (!packet.has_icrc()) return;
  require(packet.is_roce() && packet.problem().reason == roce::ParseReason::none);
  require(std::size_t{packet.icrc_offset()} + 4 + packet.trailer().size() == given.size());
  constexpr std::size_t kExplained = 512;
  if (given.size() > kExplained) return;
  const roce::IcrcExplanation explanation = explain_icrc(packet);
  require(verdict.status != IcrcStatus::good || (explanation.found().empty() && explanation.damaged_bits == 0));
  require(explanation.damaged_bits == 0 || explanation.damaged_offset < given.size());
  require(!to_string(explanation, packet).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPrefix = 3;
  if (size < kPrefix) return 0;
  const roce::LinkType link_type = kLinkTypes[data[0] % kLinkTypes.size()];
  // A copy of exactly this size, so that the sanitizer sees every byte read beyond it.
  const std::vector<std::byte> frame(reinterpret_cast<const std::byte*>(data) + kPrefix,
                                     reinterpret_cast<const std::byte*>(data) + size);
  const auto reported = static_cast<std::uint32_t>(frame.size() + data[1] * 256U + data[2]);

  const Packet packet = parse_frame(frame, link_type, reported);
  check_packet(packet, frame);
  if (link_type == roce::LinkType::ethernet) {
    require(roce::test::describe(packet) == roce::test::describe(roce::test::parse_by_layers(frame, reported)));
  }
  check_packet(parse_transport(frame, packet.net(), reported), frame);
  const auto neighbour = roce::read_neighbour_message(packet);
  const auto error = roce::read_icmp_error(packet);
  require(!(neighbour && error) && !(packet.is_roce() && (neighbour || error)));
  if (!packet.has_icrc()) return 0;

  // Parsed from the BTH on, it is the same packet.
  const std::vector<std::byte> transport(frame.begin() + packet.bth_offset(), frame.begin() + packet.icrc_offset() + 4);
  const Packet alone = parse_transport(transport, packet.net());
  require(alone.has_icrc() && alone.stored_icrc() == packet.stored_icrc());
  require(std::ranges::equal(alone.payload(), packet.payload()));
  return 0;
}
