// SPDX-License-Identifier: BSD-2-Clause
#include "model_audit.h"

#include <algorithm>

#include "roce/wire/aeth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/reth.h"

namespace roce::model {

namespace {

constexpr std::int32_t kHalf = 1 << 23;

/// Returns a digest of everything that may not change when a packet is sent again.
std::uint64_t digest_of(const Packet& packet) {
  constexpr std::uint64_t offset_basis = 0xCBF2'9CE4'8422'2325U;
  constexpr std::uint64_t prime = 0x100'0000'01B3U;
  std::uint64_t digest = offset_basis + static_cast<std::uint64_t>(packet.opcode());
  const std::uint32_t begin = packet.bth_offset() + static_cast<std::uint32_t>(kSize<Bth>);
  for (const std::byte byte : packet.bytes().subspan(begin, packet.icrc_offset() - begin)) {
    digest = (digest ^ std::to_integer<std::uint64_t>(byte)) * prime;
  }
  return digest;
}

bool starts(Position position) {
  return position == Position::first || position == Position::only;
}

std::string wrong(const char* what, Psn psn) {
  return std::string(what) + " (PSN " + std::to_string(psn.value()) + ")";
}

}  // namespace

std::string audit_frame(const Packet& packet, std::uint32_t mtu) {
  if (!packet.is_roce() || packet.problem().reason != ParseReason::none) return "a frame that does not parse";
  if (!packet.info().defined()) return "an undefined opcode";
  if (check_icrc(packet).status != IcrcStatus::good) return "a wrong ICRC";
  if (packet.info().service == Service::cnp) return {};
  const Bth bth = packet.bth();
  if (packet.info().service != Service::rc) return "an opcode of another service";
  if (bth.pad_count != ((0 - packet.payload_length()) & 3)) return wrong("a wrong pad count", bth.psn);
  const bool empty_answer = packet.info().operation == Operation::read_response && packet.payload_length() == 0;
  if (!empty_answer && !payload_fits(packet.info().payload, packet.payload_length(), mtu)) {
    return wrong("a payload of a wrong length", bth.psn);
  }
  return {};
}

std::string Audit::on_request(const Packet& packet, const transport::QpAttributes& sender) {
  const Psn psn = packet.bth().psn;
  if (packet.info().is_response()) return wrong("an answer as a request", psn);
  if (psn.distance_from(sender.sq_psn) >= 0 || sender.sq_psn.distance_from(psn) >= kHalf) {
    return wrong("a PSN outside the window", psn);
  }
  const std::int32_t index = psn.distance_from(first_);
  if (index < 0 || static_cast<std::size_t>(index) > uses_.size()) return wrong("a request PSN that leaves a gap", psn);
  if (static_cast<std::size_t>(index) < uses_.size()) {
    return on_repeated_use(packet, uses_[static_cast<std::size_t>(index)]);
  }
  return on_first_use(packet);
}

std::string Audit::on_first_use(const Packet& packet) {
  const OpcodeInfo& info = packet.info();
  const Psn psn = packet.bth().psn;
  Use use{.operation = info.operation, .position = info.position, .digest = digest_of(packet)};
  if (!uses_.empty()) {
    const Use& last = uses_.back();
    const bool open = last.position == Position::first || last.position == Position::middle;
    if (open == starts(info.position) || (open && last.operation != info.operation)) {
      return wrong("a message that is not continued", psn);
    }
    use.messages_ended = last.messages_ended;
  } else if (!starts(info.position)) {
    return wrong("a message without a beginning", psn);
  }
  if (info.position == Position::last || info.position == Position::only) ++use.messages_ended;
  if (info.operation != Operation::read_request) {
    uses_.push_back(use);
    return {};
  }
  const Reth reth = *packet.get<Reth>();
  use.address = reth.virtual_address;
  use.length = reth.dma_length;
  for (;;) {
    uses_.push_back(use);
    if (use.length <= mtu_) return {};
    use.address += mtu_;
    use.length -= mtu_;
  }
}

std::string Audit::on_repeated_use(const Packet& packet, const Use& use) const {
  const Psn psn = packet.bth().psn;
  if (packet.info().operation != use.operation) return wrong("another operation under a used PSN", psn);
  if (use.operation != Operation::read_request) {
    return digest_of(packet) == use.digest ? std::string{} : wrong("another packet under a used PSN", psn);
  }
  const Reth reth = *packet.get<Reth>();
  if (reth.virtual_address != use.address || reth.dma_length != use.length) {
    return wrong("a READ asked for again from a wrong place", psn);
  }
  return {};
}

std::string Audit::on_response(const Packet& packet, const transport::QpAttributes& responder) const {
  const Psn psn = packet.bth().psn;
  const std::int32_t index = psn.distance_from(first_);
  const std::int32_t executed = responder.rq_psn.distance_from(first_);
  const std::optional<Aeth> aeth = packet.get<Aeth>();
  const bool is_nak = aeth && aeth->syndrome.kind() != AethKind::ack;
  if (index < (is_nak ? 0 : -1) || index > executed || (!is_nak && index == executed)) {
    return wrong("an answer to what was not asked", psn);
  }
  if (aeth) {
    // A NAK acknowledges the requests before its PSN, an ACK also the one with its PSN.
    const std::int32_t last = is_nak ? index - 1 : index;
    const std::uint32_t least = last < 0 ? 0 : uses_.at(static_cast<std::size_t>(last)).messages_ended;
    if (Msn{least}.newer_than(aeth->msn) || aeth->msn.newer_than(responder.msn)) return wrong("a wrong MSN", psn);
  }
  const Operation operation = packet.info().operation;
  if (operation == Operation::acknowledge) return {};
  if (index < 0 || static_cast<std::size_t>(index) >= uses_.size()) return wrong("data that nobody asked for", psn);
  const Use& use = uses_[static_cast<std::size_t>(index)];
  if (operation == Operation::atomic_acknowledge) {
    const bool fits = use.operation == Operation::compare_swap || use.operation == Operation::fetch_add;
    return fits ? std::string{} : wrong("an atomic answer to something else", psn);
  }
  if (use.operation == Operation::flush || use.operation == Operation::atomic_write) {
    return packet.payload_length() == 0 ? std::string{} : wrong("data instead of an empty answer", psn);
  }
  if (use.operation != Operation::read_request) return wrong("a READ response to something else", psn);
  const bool last = packet.info().position == Position::last || packet.info().position == Position::only;
  if (packet.payload_length() != std::min(use.length, mtu_) || last != (use.length <= mtu_)) {
    return wrong("a READ response of a wrong length", psn);
  }
  return {};
}

}  // namespace roce::model
