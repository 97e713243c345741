// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/psn_continuation.h"

#include <algorithm>

#include "roce/analysis/observation.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/frame_seal.h"

namespace roce::replay {

namespace {

[[nodiscard]] analysis::TrackerOptions tracker_options() {
  analysis::TrackerOptions options;
  options.keep_messages = options.keep_answers = false;
  // All that is needed is which flows are one connection.
  options.limits.requests_per_stream = options.limits.responses_per_stream = 256;
  return options;
}

[[nodiscard]] bool has_psns(const Packet& packet) {
  return packet.is_roce() && packet.info().operation != Operation::cnp;
}

[[nodiscard]] bool has_udp_checksum(const Packet& packet) {
  const auto udp = packet.version() == RoceVersion::v1 ? std::nullopt : packet.get<Udp>();
  return udp && udp->checksum != 0;
}

}  // namespace

PsnContinuation::PsnContinuation() : tracker_(tracker_options()) {}

void PsnContinuation::Range::extend(Psn first, std::uint32_t psns) {
  const Psn last = first + (psns - 1);
  if (count == 0) {
    newest = last;
    count = psns;
    return;
  }
  const std::int32_t ahead = last.distance_from(newest);
  if (ahead <= 0) return;
  newest = last;
  count += static_cast<std::uint64_t>(ahead);
}

PsnContinuation::Key PsnContinuation::key_of(const Packet& packet, const NetMeta& net) {
  if (packet.info().service == Service::ud) {
    const std::optional<Deth> deth = packet.get<Deth>();
    return {net.source, {}, deth ? deth->source_qp : Qpn{}};
  }
  return {net.source, net.destination, packet.bth().dest_qp};
}

void PsnContinuation::learn(const Packet& packet, const IcrcVerdict& icrc, Time time) {
  if (!has_psns(packet)) return;
  const NetMeta net = packet.net();
  const auto [place, is_new] = places_.try_emplace(key_of(packet, net), static_cast<std::uint32_t>(flows_.size()));
  if (is_new) flows_.emplace_back();
  Flow& flow = flows_[place->second];
  const analysis::PacketAnalysis& seen = tracker_.observe(analysis::observe_packet(packet, icrc, time, {++learnt_, 0}));
  // A damaged packet does not tell which PSNs its QP is at.
  if (icrc.status == IcrcStatus::bad) return;
  if (seen.stream != analysis::kNoStream) {
    flow.stream = seen.stream;
    flow.direction = seen.direction;
  }
  std::optional<Range>& range = packet.info().is_response() ? flow.responses : flow.requests;
  if (!range) range = Range{};
  range->extend(packet.bth().psn, 1);
}

void PsnContinuation::finish() {
  tracker_.finish();
  std::map<std::pair<std::uint32_t, std::uint8_t>, Flow*> by_direction;
  for (Flow& flow : flows_) {
    if (flow.stream != analysis::kNoStream) by_direction[{flow.stream, flow.direction}] = &flow;
  }
  for (Flow& flow : flows_) {
    const auto other = by_direction.find({flow.stream, flow.direction == 0 ? std::uint8_t{1} : std::uint8_t{0}});
    const Flow* opposite = flow.stream != analysis::kNoStream && other != by_direction.end() ? other->second : nullptr;
    if (flow.requests) {
      Range range = *flow.requests;
      // The answer to the last READ takes PSNs that the request does not show.
      if (opposite != nullptr && opposite->responses) range.extend(opposite->responses->newest, 1);
      flow.request_span = static_cast<std::uint32_t>(range.count & Psn::kMax);
    }
  }
  for (Flow& flow : flows_) {
    if (!flow.responses) continue;
    const auto other = by_direction.find({flow.stream, flow.direction == 0 ? std::uint8_t{1} : std::uint8_t{0}});
    const bool is_known = flow.stream != analysis::kNoStream && other != by_direction.end() && other->second->requests;
    flow.response_span =
        is_known ? other->second->request_span : static_cast<std::uint32_t>(flow.responses->count & Psn::kMax);
  }
}

std::uint32_t PsnContinuation::find(const Key& key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? kNoFlow : found->second;
}

std::uint32_t PsnContinuation::flow_of(const Packet& packet) const {
  return has_psns(packet) ? find(key_of(packet, packet.net())) : kNoFlow;
}

void PsnContinuation::move(std::span<std::byte> frame, const Packet& packet, std::uint32_t flow, bool is_sound,
                           std::uint64_t plays) const {
  if (plays == 0 || flow == kNoFlow) return;
  const auto moved = [plays](Psn psn, std::uint32_t span) {
    return psn + static_cast<std::uint32_t>(plays * span & Psn::kMax);
  };
  const Flow& own = flows_[flow];
  std::byte* const bth = frame.data() + packet.bth_offset();
  const Psn psn =
      moved(FieldOf<&Bth::psn>::get(bth), packet.info().is_response() ? own.response_span : own.request_span);
  // Most packets: only the ICRC depends on the PSN, and a new one can be computed without a look at the old one.
  if (is_sound && packet.info().service != Service::ud && !has_udp_checksum(packet)) {
    FieldOf<&Bth::psn>::set(bth, psn);
    const std::size_t network = packet.network_offset();
    const std::uint32_t icrc = compute_icrc(frame.subspan(network, packet.icrc_offset() - network),
                                            packet.network_header(), packet.bth_offset() - network);
    store_big_endian<4>(frame.data() + packet.icrc_offset(), __builtin_bswap32(icrc));
    return;
  }
  const FrameSeal seal{packet};
  FieldOf<&Bth::psn>::set(bth, psn);
  const auto announce = [&]<typename Message>(const Message& message) {
    const NetMeta net = packet.net();
    const std::uint32_t announced = find({net.destination, net.source, message.local_qpn});
    if (announced == kNoFlow) return;
    FieldOf<&Message::starting_psn>::set(frame.data() + packet.find(kHeader<Message>.id)->offset,
                                         moved(message.starting_psn, flows_[announced].request_span));
  };
  if (const auto req = packet.get<CmReq>()) announce(*req);
  if (const auto rep = packet.get<CmRep>()) announce(*rep);
  seal.renew(packet, frame, WrongCheck::keep, WrongCheck::keep);
}

}  // namespace roce::replay
