// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment/segmenter.h"

#include <algorithm>
#include <bit>

#include "roce/wire/aeth.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/reth.h"
#include "roce/wire/super_frame.h"

namespace roce::replay {

namespace {

// Joined packets are kept for requesters that go back to the middle of one: some 40 MiB.
constexpr std::size_t kMostGroups = 8192;

[[nodiscard]] Psn wire(LongPsn psn) {
  return Psn{static_cast<std::uint32_t>(psn & Psn::kMax)};
}

[[nodiscard]] PathMtu code_of(std::uint32_t path_mtu) {
  return static_cast<PathMtu>(std::countr_zero(path_mtu / to_bytes(PathMtu::mtu_256)) + 1);
}

}  // namespace

std::span<const SegmentedFrame> Segmenter::take(const Packet& packet, LinkType link_type) {
  frames_.clear();
  buffers_used_ = 0;
  if (!packet.is_roce()) {
    pass(packet);
    return frames_;
  }
  const IcrcVerdict icrc = check_icrc(packet);
  const bool may_be_several = icrc.status != IcrcStatus::good;
  if (const auto parts = may_be_several ? find_super_frame(packet) : std::nullopt) {
    ++counts_.super_frames;
    for (std::uint32_t i = 0; i < parts->count; ++i) {
      Buffer& single = next_buffer({});
      cut_frame(packet, *parts, i, single);
      const Packet part = parse_frame(single, link_type);
      take_one(part, check_icrc(part), link_type);
    }
  } else {
    take_one(packet, icrc, link_type);
  }
  return frames_;
}

void Segmenter::pass(const Packet& packet) {
  frames_.push_back({packet.bytes(), packet.reported_length(), false});
}

Segmenter::Buffer& Segmenter::next_buffer(Bytes bytes) {
  if (buffers_used_ == buffers_.size()) buffers_.emplace_back();
  Buffer& buffer = buffers_[buffers_used_++];
  buffer.assign(bytes.begin(), bytes.end());
  return buffer;
}

void Segmenter::take_one(const Packet& packet, const IcrcVerdict& icrc, LinkType link_type) {
  const analysis::Observation seen = analysis::observe_packet(packet, icrc, Time{}, {++taken_, 0});
  if (seen.cm.attribute == MadAttribute::cm_req) return announce(packet, seen, link_type);
  const bool is_whole = packet.problem().reason == ParseReason::none && packet.has_icrc();
  if (!is_whole || !is_of_connection(packet, seen)) return pass(packet);
  const SegmentPlan::Part* const part = plan_->find(segment_flow_of(seen), taken_);
  if (part == nullptr) return pass(packet);
  const bool is_answer = packet.info().is_response();
  const std::uint32_t map = is_answer ? part->responses : part->requests;
  if (map == SegmentPlan::kNone) return pass(packet);
  // Before the first request every PSN stays.
  if (!numbers_[map].counter.has_begun() && (is_answer || seen.icrc_bad)) return pass(packet);
  if (is_answer) {
    take_answer(packet, map, !seen.icrc_bad, link_type);
  } else {
    take_request(packet, map, !seen.icrc_bad, link_type);
  }
}

void Segmenter::take_request(const Packet& packet, std::uint32_t map, bool is_sound, LinkType link_type) {
  Numbers& numbers = numbers_[map];
  const LongPsn psn = numbers.counter.unwrap(packet.bth().psn);
  if (is_sound) numbers.counter.note(psn);
  const PsnMap::Place place = plan_->maps[map].find(psn);
  const std::size_t before = frames_.size();
  switch (packet.info().operation) {
    case Operation::send:
    case Operation::write:
      take_part(packet, map, place, is_sound, link_type);
      break;
    case Operation::read_request:
      // A requester that asks for the rest of an answer asks for whole packets.
      renumber(packet, place.first, place.skipped * plan_->maps[map].old_mtu(), link_type);
      break;
    default:
      renumber(packet, place.first, 0, link_type);
      break;
  }
  if (frames_.size() == before) return;
  numbers.sent_end = std::max(numbers.sent_end, place.last + 1);
  if (numbers.refused == place.first) numbers.refused.reset();
}

bool Segmenter::is_idle_nak(const Packet& packet, const PsnMap::Place& place, Numbers& numbers) const {
  if (!place.is_joined) return false;
  // The packet has not come out.
  if (place.first >= numbers.sent_end) return true;
  // Another part of the packet was refused already.
  const Psn part = packet.bth().psn;
  if (numbers.refused == place.first && numbers.refused_part != part) return true;
  numbers.refused = place.first;
  numbers.refused_part = part;
  return false;
}

void Segmenter::take_answer(const Packet& packet, std::uint32_t map, bool is_sound, LinkType link_type) {
  Numbers& numbers = numbers_[map];
  const PsnMap::Place place = plan_->maps[map].find(numbers.counter.unwrap(packet.bth().psn));
  if (packet.info().operation == Operation::read_response) return take_part(packet, map, place, is_sound, link_type);
  const std::optional<Aeth> aeth = packet.get<Aeth>();
  const bool is_ack = packet.info().operation == Operation::acknowledge && aeth &&
                      (aeth->syndrome.kind() == AethKind::ack || aeth->syndrome.kind() == AethKind::reserved);
  const bool is_idle = is_ack ? !place.ends_packet() : is_idle_nak(packet, place, numbers);
  if (is_idle) {
    ++counts_.answers_left_out;
    return;
  }
  renumber(packet, is_ack ? place.last : place.first, 0, link_type);
}

void Segmenter::take_part(const Packet& packet, std::uint32_t map, const PsnMap::Place& place, bool is_sound,
                          LinkType link_type) {
  if (!place.is_joined) return cut(packet, place, link_type);
  // The receiver ignored this packet.
  if (!is_sound || packet.payload().size() > plan_->maps[map].old_mtu()) {
    ++counts_.incomplete;
    return;
  }
  join(packet, map, place, link_type);
}

void Segmenter::cut(const Packet& packet, const PsnMap::Place& place, LinkType link_type) {
  const auto count = static_cast<std::size_t>(place.last - place.first + 1);
  const std::size_t mtu = plan_->path_mtu;
  const Bytes payload = packet.payload();
  // A damaged packet may be another one than its PSN indicates.
  if (count == 1 || (payload.size() + mtu - 1) / mtu != count) return renumber(packet, place.first, 0, link_type);
  const Bth bth = packet.bth();
  const MessagePlace whole = place_of(packet.info());
  HeaderBytes headers;
  collect_headers(packet, headers);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_last = i + 1 == count;
    const NewPacket piece{.psn = wire(place.first + static_cast<LongPsn>(i)),
                          .place = {.begins = whole.begins && i == 0, .ends = whole.ends && is_last},
                          .solicited = is_last && bth.solicited,
                          .ack_req = is_last && bth.ack_req,
                          .immediate = packet.info().immediate,
                          .invalidate = packet.info().invalidate};
    Buffer& frame = next_buffer(packet.bytes());
    const Bytes bytes = payload.subspan(i * mtu, is_last ? payload.size() - i * mtu : mtu);
    // A packet has all headers that its pieces need.
    if (make_packet(packet, piece, headers, bytes, link_type, frame)) come_out(frame);
  }
  ++counts_.cut;
  counts_.made += count;
}

Segmenter::Group& Segmenter::group_of(const GroupKey& key) {
  const auto [found, is_new] = groups_.try_emplace(key);
  if (!is_new) return found->second;
  groups_by_age_.push_back(key);
  if (groups_by_age_.size() > kMostGroups) {
    const auto oldest = groups_.find(groups_by_age_.front());
    if (!oldest->second.came_out) {
      counts_.incomplete += static_cast<std::uint64_t>(std::popcount(oldest->second.seen));
    }
    groups_.erase(oldest);
    groups_by_age_.pop_front();
  }
  return found->second;
}

void Segmenter::join(const Packet& packet, std::uint32_t map, const PsnMap::Place& place, LinkType link_type) {
  const OpcodeInfo& info = packet.info();
  const std::size_t part_bytes = plan_->maps[map].old_mtu();
  Group& group = group_of({map, place.first, info.is_response()});
  group.payload.resize(place.parts * part_bytes);
  const Bytes payload = packet.payload();
  std::copy(payload.begin(), payload.end(),
            group.payload.begin() + static_cast<std::ptrdiff_t>(place.skipped * part_bytes));
  collect_headers(packet, group.headers);
  const Bth bth = packet.bth();
  group.solicited = group.solicited || bth.solicited;
  group.ack_req = group.ack_req || bth.ack_req;
  const MessagePlace own = place_of(info);
  // An answer may begin again in the middle of what became one packet.
  group.place.begins = place.skipped == 0 ? own.begins : group.place.begins || own.begins;
  if (place.ends_packet()) {
    group.place.ends = own.ends;
    group.last_bytes = static_cast<std::uint32_t>(payload.size());
    group.immediate = info.immediate;
    group.invalidate = info.invalidate;
  }
  ++counts_.joined;
  const std::uint32_t all = (1U << place.parts) - 1;
  const bool was_complete = group.seen == all;
  group.seen |= 1U << place.skipped;
  if (group.seen != all || (was_complete && !place.ends_packet())) return;
  group.payload.resize((place.parts - 1) * part_bytes + group.last_bytes);
  join_out(packet, group, place.first, link_type);
}

void Segmenter::join_out(const Packet& packet, Group& group, LongPsn psn, LinkType link_type) {
  const NewPacket whole{.psn = wire(psn),
                        .place = group.place,
                        .solicited = group.solicited,
                        .ack_req = group.ack_req,
                        .immediate = group.immediate,
                        .invalidate = group.invalidate};
  Buffer& frame = next_buffer(packet.bytes());
  // No opcode fits parts of different operations.
  if (!make_packet(packet, whole, group.headers, group.payload, link_type, frame)) return;
  come_out(frame);
  ++counts_.made;
  group.came_out = true;
  group.solicited = group.ack_req = false;
  if (packet.info().is_response()) group.place = {.begins = false, .ends = false};
}

void Segmenter::announce(const Packet& packet, const analysis::Observation& seen, LinkType link_type) {
  const std::optional<CmReq> req = packet.get<CmReq>();
  const auto flow = plan_->flows.find({seen.destination, seen.source, seen.domain, seen.cm.local_qpn});
  bool is_left = false;
  if (flow != plan_->flows.end()) {
    // The connection that it announces begins after it.
    const std::vector<SegmentPlan::Part>& parts = flow->second;
    const auto next = std::find_if(parts.begin(), parts.end(),
                                   [&](const SegmentPlan::Part& part) { return part.first_packet > taken_; });
    is_left = next == parts.end() ? parts.back().is_left : next->is_left;
  }
  if (!req || is_left || req->path_mtu == code_of(plan_->path_mtu)) return pass(packet);
  const FrameSeal seal{packet};
  Buffer& frame = next_buffer(packet.bytes());
  FieldOf<&CmReq::path_mtu>::set(frame.data() + packet.find(kHeader<CmReq>.id)->offset, code_of(plan_->path_mtu));
  seal.renew(parse_frame(frame, link_type, packet.reported_length()), frame, WrongCheck::keep, WrongCheck::keep);
  frames_.push_back({frame, packet.reported_length(), true});
}

void Segmenter::renumber(const Packet& packet, LongPsn psn, std::uint32_t earlier, LinkType link_type) {
  if (wire(psn) == packet.bth().psn && earlier == 0) return pass(packet);
  const FrameSeal seal{packet};
  Buffer& frame = next_buffer(packet.bytes());
  FieldOf<&Bth::psn>::set(frame.data() + packet.bth_offset(), wire(psn));
  if (const std::optional<Layer> layer = packet.find(HeaderId::reth); layer && earlier != 0) {
    std::byte* const reth = frame.data() + layer->offset;
    FieldOf<&Reth::virtual_address>::set(reth, FieldOf<&Reth::virtual_address>::get(reth) - earlier);
    FieldOf<&Reth::dma_length>::set(reth, FieldOf<&Reth::dma_length>::get(reth) + earlier);
  }
  seal.renew(parse_frame(frame, link_type), frame, WrongCheck::keep, WrongCheck::keep);
  come_out(frame);
}

SegmentCounts Segmenter::counts() const {
  SegmentCounts counts = counts_;
  for (const auto& [key, group] : groups_) {
    if (!group.came_out) counts.incomplete += static_cast<std::uint64_t>(std::popcount(group.seen));
  }
  return counts;
}

}  // namespace roce::replay
