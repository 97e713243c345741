// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/clean_qp.h"

#include "conform/run/attributes.h"
#include "roce/wire/aeth.h"
#include "roce/wire/packet.h"

namespace roce::conform {

namespace {

constexpr std::uint32_t kRegionBytes = 64;
constexpr int kMostSent = 5;

}  // namespace

TargetResult<CleanQp> CleanQp::make(Target& target) {
  const TargetResult<Region> region = target.create_region(
      {.length = kRegionBytes, .access = transport::Access::local_write | transport::Access::remote_write});
  if (!region) return tl::unexpected(region.error());
  QpSetup setup;
  setup.access = all_rights();
  setup.peer = target.first_peer();
  const TargetResult<QpNumber> qp = target.create_qp(setup);
  if (!qp) return tl::unexpected(qp.error());
  CleanQp clean{target,
                {.type = setup.type, .dest_qp = target.qpn(*qp), .path_mtu = setup.path_mtu, .region = *region}};
  clean.first_psn_ = setup.rq_psn;
  return clean;
}

void CleanQp::send(Psn psn) {
  defaults_.psn = psn;
  FrameSpec frame{.place = {}, .opcode = Expression::literal("WRITE_ONLY")};
  frame.fields.push_back({{}, "payload", Expression::literal("0102030405060708")});
  const CaseResult<std::vector<std::byte>> bytes = make_frame(frame, defaults_, target_->port(), NoNames{});
  if (bytes && target_->may_send(*bytes)) target_->send(*bytes);
}

std::optional<CleanQp::Answer> CleanQp::receive(Time until) {
  while (const std::optional<SeenFrame> frame = target_->receive(until)) {
    const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
    const std::optional<Aeth> aeth = packet.is_roce() ? packet.get<Aeth>() : std::nullopt;
    if (!aeth) continue;
    return Answer{.time = frame->time, .psn = packet.bth().psn, .is_ack = aeth->syndrome.kind() == AethKind::ack};
  }
  return std::nullopt;
}

bool serves_new_qp(Target& target, Duration patience) {
  TargetResult<CleanQp> qp = CleanQp::make(target);
  if (!qp) return false;
  for (int i = 0; i < kMostSent; ++i) {
    qp->send(qp->first_psn());
    if (qp->receive(target.now() + patience)) return true;
  }
  return false;
}

}  // namespace roce::conform
