// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/marks.h"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>

#include "roce/wire/all_headers.h"

namespace roce::plugin {

namespace {

using analysis::Severity;
using analysis::VerdictKind;

void replace(std::string& line, std::string_view part, std::string_view by) {
  if (const std::size_t at = line.find(part); at != std::string::npos) line.replace(at, part.size(), by);
}

bool is_nak(VerdictKind kind) {
  return kind >= VerdictKind::nak_sequence_error && kind <= VerdictKind::nak_invalid_rd_request;
}

}  // namespace

void Marks::add(IcrcStatus icrc, const CaptureAnalysis* analysis, const PacketFacts* facts) noexcept {
  has_bad_icrc_ = has_bad_icrc_ || icrc == IcrcStatus::bad;
  if (facts == nullptr) return;
  for (std::uint32_t i = facts->verdicts; i != 0; i = analysis->verdict(i).next) {
    const VerdictKind kind = analysis->verdict(i).verdict.kind;
    if (kind != VerdictKind::cnp && kind != VerdictKind::bad_icrc) kinds_ |= bit_of(kind);
  }
}

Text Marks::text() const noexcept {
  if (kinds_ == 0 && !has_bad_icrc_) return {};
  try {
    std::string line = has_bad_icrc_ ? "[ICRC bad] " : "";
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
      for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
        if (info.severity != severity || !has(info.kind)) continue;
        line += "[RoCE ";
        line += verdict_mark(info.kind).c_str();
        line += "] ";
      }
    }
    return to_text(line);
  } catch (const std::exception&) {
    return {};
  }
}

Text packet_text(const Packet& packet, const Marks& marks) noexcept {
  const Text whole = packet_text(packet);
  try {
    std::string line = whole.c_str();
    if (marks.has(VerdictKind::ce_mark)) replace(line, "  CE", "");
    if (marks.has(VerdictKind::rnr_nak)) replace(line, "  RNR NAK ", "  wait ");
    const std::optional<Aeth> aeth = packet.get<Aeth>();
    const bool is_refused = std::ranges::any_of(
        analysis::verdict_infos(), [&](const auto& info) { return is_nak(info.kind) && marks.has(info.kind); });
    constexpr std::uint8_t kWithoutReserved = 0x7F;
    if (aeth && is_refused) {
      const AethSyndrome kind{static_cast<std::uint8_t>(aeth->syndrome.value() & kWithoutReserved)};
      replace(line, "  " + to_string(kind), "");
    }
    return to_text(line);
  } catch (const std::exception&) {
    return whole;
  }
}

}  // namespace roce::plugin
