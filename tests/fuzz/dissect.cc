// SPDX-License-Identifier: BSD-2-Clause
// The work of the Wireshark plugin on frames, without Wireshark: finds the packet at a place in any bytes, lists the
// fields to show, puts the packet into words, and analyses it on a first pass; then looks at all frames again. Input:
// frames, each with a byte for the link type, one for the RoCE version, one for the offset in the frame at which the
// packet is supposed to begin, one for how much longer it was on the wire, one for the time since the previous frame,
// and two for the captured length.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "wireshark/parts/dissect.h"
#include "wireshark/parts/field_numbers.h"
#include "wireshark/parts/open_capture.h"
#include "wireshark/parts/text.h"

namespace {

using roce::Bytes;
using roce::IcrcStatus;
using roce::IcrcVerdict;
using roce::Packet;
using roce::plugin::PacketFacts;

constexpr std::array<std::optional<roce::LinkType>, 5> kLinkTypes{roce::LinkType::ethernet, roce::LinkType::raw_ip,
                                                                  roce::LinkType::linux_sll, roce::LinkType::linux_sll2,
                                                                  std::nullopt};
constexpr std::array kVersions{roce::RoceVersion::v2_ipv4, roce::RoceVersion::v2_ipv6, roce::RoceVersion::v1};

void require(bool holds) {
  if (!holds) std::abort();
}

void check_records(const roce::plugin::RecordList& list, const Packet& packet) {
  using roce::plugin::RecordKind;
  require(!list.overflowed());
  for (const roce::plugin::Record& record : list.records()) {
    require(std::size_t{record.offset} + record.size <= packet.bytes().size());
    if (record.kind == RecordKind::header) require(roce::plugin::is_shown(static_cast<roce::HeaderId>(record.id)));
    if (record.kind == RecordKind::field) require(record.id < roce::plugin::FieldNumbers::get().size());
    if (record.kind == RecordKind::derived)
      require(record.id < static_cast<std::uint16_t>(roce::plugin::Derived::count));
  }
}

struct Frame {
  roce::plugin::PacketPlace place;
  roce::Time time;
};

/// Returns the frames of an input.
std::vector<Frame> read_frames(Bytes input) {
  constexpr std::size_t kHeader = 7;
  std::vector<Frame> frames;
  roce::Time time{};
  while (input.size() >= kHeader) {
    const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(input[i]); };
    const std::size_t length = std::min<std::size_t>(at(5) << 8U | at(6), input.size() - kHeader);
    Frame frame;
    frame.place.frame = input.subspan(kHeader, length);
    frame.place.reported_length = static_cast<std::uint32_t>(length + at(3));
    frame.place.link_type = kLinkTypes[at(0) % kLinkTypes.size()];
    frame.place.net.version = kVersions[at(1) % kVersions.size()];
    frame.place.offset = std::min(at(2), static_cast<unsigned>(length));
    frame.place.length = frame.place.reported_length - frame.place.offset;
    time += std::chrono::microseconds{at(4)};
    frame.time = time;
    frames.push_back(frame);
    input = input.subspan(kHeader + length);
  }
  return frames;
}

/// Makes one pass over a frame, as the plugin does: the facts of its packets.
template <typename Analyse>
void pass(const Frame& frame, Analyse analyse) {
  const roce::plugin::LocatedPacket located = locate(frame.place);
  const auto take = [&](const Packet& packet, const IcrcVerdict& icrc, std::uint32_t base) {
    roce::plugin::RecordList records;
    add_records(packet, icrc, records);
    check_records(records, packet);
    for (const roce::Layer& layer : packet.layers()) static_cast<void>(roce::plugin::header_text(packet, layer.id));
    static_cast<void>(roce::plugin::packet_text(packet));
    static_cast<void>(roce::plugin::problem_text(packet));
    analyse(packet, icrc, base + (packet.is_roce() ? packet.bth_offset() : 0));
  };
  const Packet& packet = located.packet;
  const IcrcVerdict icrc = check_icrc(located);
  const auto several = packet.is_roce() && icrc.status != IcrcStatus::good ? find_super_frame(packet) : std::nullopt;
  if (!several) return take(packet, icrc, located.base);
  for (std::uint32_t i = 0; i < several->count; ++i) {
    const Packet part = segment(packet, *several, i);
    take(part, roce::check_icrc(part), located.base + packet.bth_offset() + i * several->segment_size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Frame> frames = read_frames(std::as_bytes(std::span{data, size}));
  roce::plugin::OpenCapture capture;
  capture.begin({});
  for (std::size_t i = 0; i < frames.size(); ++i) {
    pass(frames[i], [&](const Packet& packet, const IcrcVerdict& icrc, std::uint32_t offset) {
      require(capture.observe(packet, icrc, {i + 1, frames[i].time}, offset) != nullptr);
    });
  }
  capture.finish();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    pass(frames[i], [&](const Packet&, const IcrcVerdict&, std::uint32_t offset) {
      const PacketFacts* const facts = capture.find(i + 1, offset);
      require(facts != nullptr);
      std::size_t verdicts = 0;
      for (std::uint32_t v = facts->verdicts; v != 0; v = capture.analysis()->verdict(v).next) {
        static_cast<void>(roce::plugin::verdict_text(capture.analysis()->verdict(v).verdict));
        require(++verdicts < 1000);
      }
      for (std::uint32_t v = facts->learned; v != 0; v = capture.analysis()->learned(v).next) {
        require(capture.analysis()->verdict(capture.analysis()->learned(v).verdict).verdict.packet.frame <= i + 1);
      }
    });
  }
  return 0;
}
