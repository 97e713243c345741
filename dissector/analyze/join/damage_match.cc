// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/damage_match.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <vector>

namespace roce::analyze {

namespace {

/// A damaged packet agrees with its original in at least one of these two keys.
auto by_icrc(const SeenPacket& packet) {
  return packet.icrc;
}
auto by_headers(const SeenPacket& packet) {
  return std::tuple{packet.flow,           packet.psn, packet.opcode, packet.ip_id, packet.payload_length,
                    packet.udp_source_port};
}

/// Returns the number of fields in which two packets agree.
unsigned likeness(const SeenPacket& x, const SeenPacket& y, const FlowTable& flows) {
  const SeenFlow& of_x = flows.flows()[x.flow];
  const SeenFlow& of_y = flows.flows()[y.flow];
  return unsigned{of_x.source == of_y.source} + unsigned{of_x.destination == of_y.destination} +
         unsigned{of_x.dest_qp == of_y.dest_qp} + unsigned{x.psn == y.psn} + unsigned{x.opcode == y.opcode} +
         unsigned{x.ip_id == y.ip_id} + unsigned{x.udp_source_port == y.udp_source_port} + unsigned{x.icrc == y.icrc};
}
constexpr unsigned kFields = 8;
/// Damage hits one field, or two adjacent ones.
constexpr unsigned kLeastLikeness = kFields - 2;

/// Matches the bad packets of one capture with the sound ones of the other.
class DamageMatcher {
 public:
  /// `sign`: 1 if `bad` is B, -1 if it is A.
  DamageMatcher(std::span<const SeenPacket> bad, std::span<const SeenPacket> sound, const FlowTable& flows,
                std::int64_t within_ns, const DifferenceTrend& trend, int sign)
      : bad_(bad), sound_(sound), flows_(flows), within_ns_(within_ns), trend_(trend), sign_(sign) {}

  void match(std::vector<PacketMatch>& of_bad, std::vector<PacketMatch>& of_sound) const {
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < bad_.size(); ++i) {
      if (bad_[i].is_bad && bad_[i].has_icrc && of_bad[i].kind == MatchKind::none) open.push_back(i);
    }
    if (open.empty()) return;
    std::multimap<decltype(by_icrc(bad_[0])), std::uint32_t> icrcs;
    std::multimap<decltype(by_headers(bad_[0])), std::uint32_t> headers;
    for (std::uint32_t i = 0; i < sound_.size(); ++i) {
      if (sound_[i].is_bad || of_sound[i].kind != MatchKind::none) continue;
      if (sound_[i].has_icrc) icrcs.emplace(by_icrc(sound_[i]), i);
      headers.emplace(by_headers(sound_[i]), i);
    }
    for (const std::uint32_t i : open) {
      std::uint32_t original = nearest(icrcs.equal_range(by_icrc(bad_[i])), i, of_sound);
      if (original == kNoPacket) original = nearest(headers.equal_range(by_headers(bad_[i])), i, of_sound);
      if (original == kNoPacket) continue;
      of_bad[i] = {original, MatchKind::damaged};
      of_sound[original] = {i, MatchKind::damaged};
    }
  }

 private:
  template <typename Range>
  [[nodiscard]] std::uint32_t nearest(const Range& range, std::uint32_t bad,
                                      const std::vector<PacketMatch>& of_sound) const {
    std::uint32_t found = kNoPacket;
    auto best = std::tuple{0U, std::int64_t{0}};
    bool is_ambiguous = false;
    for (auto each = range.first; each != range.second; ++each) {
      const std::uint32_t i = each->second;
      const unsigned alike = likeness(bad_[bad], sound_[i], flows_);
      const std::int64_t off = surprise(bad_[bad], sound_[i]);
      if (of_sound[i].kind != MatchKind::none || alike < kLeastLikeness || off > within_ns_) continue;
      const auto merit = std::tuple{alike, -off};
      if (found != kNoPacket && merit == best) is_ambiguous = true;
      if (found != kNoPacket && merit <= best) continue;
      found = i;
      best = merit;
      is_ambiguous = false;
    }
    return is_ambiguous ? kNoPacket : found;
  }

  [[nodiscard]] std::int64_t surprise(const SeenPacket& bad, const SeenPacket& sound) const {
    const std::int64_t time_a = sign_ > 0 ? sound.time_ns : bad.time_ns;
    const std::int64_t difference = sign_ * (bad.time_ns - sound.time_ns);
    return std::abs(difference - trend_.at_time_a(time_a, flows_.flows()[sound.flow].leg));
  }

  std::span<const SeenPacket> bad_;
  std::span<const SeenPacket> sound_;
  const FlowTable& flows_;
  std::int64_t within_ns_;
  const DifferenceTrend& trend_;
  int sign_;
};

}  // namespace

void match_damaged(std::span<const SeenPacket> a, std::span<const SeenPacket> b, const FlowTable& flows,
                   std::int64_t within_ns, CaptureMatch& match) {
  DamageMatcher{b, a, flows, within_ns, match.trend, 1}.match(match.b, match.a);
  DamageMatcher{a, b, flows, within_ns, match.trend, -1}.match(match.a, match.b);
}

}  // namespace roce::analyze
