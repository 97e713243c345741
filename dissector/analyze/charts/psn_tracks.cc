// SPDX-License-Identifier: BSD-2-Clause
// The packets that a graph of PSNs over time shows.
#include "analyze/charts/psn_tracks.h"

#include <algorithm>
#include <memory>
#include <tuple>

namespace roce::analyze {

namespace {

using analysis::PacketRole;
using analysis::VerdictKind;

PsnKind kind_of_request(const analysis::PacketAnalysis& analysis) {
  PsnKind kind = PsnKind::sent;
  for (const analysis::Verdict& verdict : analysis.verdicts) {
    if (verdict.kind == VerdictKind::retransmission) return PsnKind::sent_again;
    if (verdict.kind == VerdictKind::duplicate) return PsnKind::copy;
    if (verdict.kind == VerdictKind::out_of_order) kind = PsnKind::late;
  }
  return kind;
}

PsnKind kind_of_response(const analysis::Observation& seen) {
  if (seen.info().operation == Operation::read_response) return PsnKind::read_response;
  if (!seen.has_aeth) return PsnKind::answered;
  if (seen.syndrome.kind() == AethKind::nak) return PsnKind::nak;
  return seen.syndrome.kind() == AethKind::rnr_nak ? PsnKind::rnr_nak : PsnKind::answered;
}

bool is_finding(const analysis::Verdict& verdict) {
  return analysis::verdict_info(verdict.kind).severity != analysis::Severity::note;
}

bool is_loss_of_unseen(VerdictKind kind) {
  return kind == VerdictKind::request_lost_before || kind == VerdictKind::response_lost_before ||
         kind == VerdictKind::lost_for_good;
}

bool is_loss_of_seen(VerdictKind kind) {
  return kind == VerdictKind::request_lost_after || kind == VerdictKind::response_lost_after ||
         kind == VerdictKind::lost_beyond;
}

PsnPoint turned(PsnPoint point) {
  point.requester = static_cast<std::uint8_t>(1 - point.requester);
  return point;
}

// A packet is the same point wherever it is kept; what became of it may be known in one place alone.
void sort_and_unite(std::vector<PsnPoint>& points) {
  const auto key = [](const PsnPoint& point) { return std::tuple{point.time_ns, point.frame, point.psn}; };
  std::ranges::stable_sort(points, {}, key);
  const auto rest = std::ranges::unique(points, {}, key);
  points.erase(rest.begin(), rest.end());
}

}  // namespace

std::string_view to_string(PsnKind kind) {
  constexpr std::array<std::string_view, kPsnKinds> kNames{
      "sent", "sent_again", "late", "copy", "answered", "nak", "rnr_nak", "read_response", "lost", "lost_unseen"};
  return kNames[static_cast<std::size_t>(kind)];
}

void PsnTracks::add(const analysis::Observation& seen, const analysis::PacketAnalysis& known) {
  if (known.absorbed != analysis::kNoStream) absorb(known.absorbed, known.stream);
  const bool is_request = known.role == PacketRole::request;
  if (known.stream == analysis::kNoStream || seen.icrc_bad || (!is_request && known.role != PacketRole::response))
    return;
  Track* const found = tracks_.find_or_make(known.stream);
  if (found == nullptr) return;
  Track& track = *found;
  PsnPoint point;
  point.time_ns = seen.time.time_since_epoch().count();
  point.psn = known.relative_psn;
  point.frame = seen.id.frame;
  point.requester = is_request ? known.direction : static_cast<std::uint8_t>(1 - known.direction);
  point.kind = is_request ? kind_of_request(known) : kind_of_response(seen);
  const std::int64_t first = static_cast<std::int64_t>(seen.psn.value()) - point.psn;
  track.first_psn[point.requester] = static_cast<std::uint32_t>(first) & 0xFF'FFFFU;
  track.latest[point.requester] = point.psn;
  ++track.packets;
  point.number = ++track.newest;
  remember(known.stream, point);
  add(track, point);
}

void PsnTracks::remember(std::uint32_t stream, const PsnPoint& point) {
  if (latest_.size() < kLatest) {
    latest_.push_back({stream, point});
    return;
  }
  latest_[oldest_] = {stream, point};
  oldest_ = (oldest_ + 1) % kLatest;
}

// True if the point comes after a time without any that is twice as long as each before it.
bool PsnTracks::ends_stall(Track& track, const PsnPoint& point) {
  constexpr std::int64_t kLeastNs = 1'000'000;
  const std::int64_t quiet = track.packets == 1 ? 0 : point.time_ns - track.latest_ns;
  track.latest_ns = point.time_ns;
  if (quiet < kLeastNs || quiet / 2 < track.longest_ns) return false;
  track.longest_ns = quiet;
  return true;
}

void PsnTracks::add(Track& track, const PsnPoint& point) {
  if (ends_stall(track, point) && kept_ < kAllFirst) {
    keep_recent(track);
    track.follows = kAround;
  }
  const bool is_first = track.kept.size() == track.packets - 1 && track.packets <= kFirst && kept_ < kAllFirst;
  if (is_first || track.follows != 0) {
    if (track.follows != 0) --track.follows;
    keep(track, point);
    return;
  }
  put_aside(track, point);
}

void PsnTracks::put_aside(Track& track, const PsnPoint& point) {
  if (track.recent.size() < kAround) {
    track.recent.push_back(point);
    return;
  }
  track.recent[track.oldest] = point;
  track.oldest = (track.oldest + 1) % kAround;
}

void PsnTracks::keep(Track& track, const PsnPoint& point) {
  if (kept_ >= kAll || track.kept.size() >= kOfStream) return;
  track.kept.push_back(point);
  ++kept_;
}

void PsnTracks::keep_recent(Track& track) {
  for (std::size_t i = 0; i < track.recent.size(); ++i) {
    keep(track, track.recent[(track.oldest + i) % track.recent.size()]);
  }
  track.recent.clear();
  track.oldest = 0;
}

void PsnTracks::add(const analysis::Verdict& verdict) {
  if (!is_finding(verdict)) return;
  Track* const found = tracks_.find(verdict.stream);
  if (found == nullptr) return;
  Track& track = *found;
  keep_recent(track);
  track.follows = kAround;
  mark_lost(track, verdict);
}

void PsnTracks::mark_lost(Track& track, const analysis::Verdict& verdict) {
  if (is_loss_of_seen(verdict.kind)) {
    const auto found = std::find_if(track.kept.rbegin(), track.kept.rend(),
                                    [&](const PsnPoint& point) { return point.frame == verdict.packet.frame; });
    if (found != track.kept.rend()) found->kind = PsnKind::lost;
    return;
  }
  if (!is_loss_of_unseen(verdict.kind) || verdict.lost_packets == 0) return;
  // The packet that revealed it belongs to the same requester.
  const auto found = std::find_if(track.kept.rbegin(), track.kept.rend(),
                                  [&](const PsnPoint& point) { return point.frame == verdict.packet.frame; });
  if (found == track.kept.rend()) return;
  PsnPoint point = *found;
  const auto psn = relative_psn(track, point.requester, verdict.first_psn);
  if (!psn) return;
  point.psn = *psn;
  point.count = verdict.psn_count;
  point.kind = PsnKind::lost_unseen;
  keep(track, point);
}

std::optional<std::int64_t> PsnTracks::relative_psn(const Track& track, std::uint8_t requester, Psn psn) const {
  if (!track.first_psn[requester]) return std::nullopt;
  constexpr std::int64_t kAllPsns = std::int64_t{1} << 24;
  const std::int64_t latest = track.latest[requester];
  const std::int64_t since = static_cast<std::int64_t>(psn.value()) - *track.first_psn[requester] - latest;
  std::int64_t distance = since % kAllPsns;
  if (distance > kAllPsns / 2) distance -= kAllPsns;
  if (distance < -kAllPsns / 2) distance += kAllPsns;
  return latest + distance;
}

std::optional<std::int64_t> PsnTracks::relative_psn(std::uint32_t stream, std::uint8_t requester, Psn psn) const {
  const Track* const found = tracks_.find(stream);
  return found == nullptr ? std::nullopt : relative_psn(*found, requester, psn);
}

// A flow that turned out to be direction 1 of a stream: it was direction 0 of its own.
void PsnTracks::absorb(std::uint32_t from, std::uint32_t into) {
  const std::unique_ptr<Track> absorbed = tracks_.extract(from);
  if (absorbed == nullptr) return;
  const Track& old = *absorbed;
  kept_ -= old.kept.size();
  Track* const found = tracks_.find_or_make(into);
  if (found == nullptr) return;
  Track& track = *found;
  absorbed_[from] = into;
  for (const PsnPoint& point : old.kept) keep(track, turned(point));
  for (std::size_t i = 0; i < old.recent.size(); ++i) {
    put_aside(track, turned(old.recent[(old.oldest + i) % old.recent.size()]));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (track.first_psn[i]) continue;
    track.first_psn[i] = old.first_psn[1 - i];
    track.latest[i] = old.latest[1 - i];
  }
  track.packets += old.packets;
  track.newest = std::max(track.newest, old.newest);
}

std::vector<PsnPoint> PsnTracks::points(std::uint32_t stream) const {
  const Track* const found = tracks_.find(stream);
  if (found == nullptr) return {};
  std::vector<PsnPoint> points = found->kept;
  points.insert(points.end(), found->recent.begin(), found->recent.end());
  std::stable_sort(points.begin(), points.end(),
                   [](const PsnPoint& a, const PsnPoint& b) { return a.time_ns < b.time_ns; });
  return points;
}

std::vector<PsnPoint> PsnTracks::points_between(std::uint32_t stream, std::uint8_t requester, std::int64_t first_ns,
                                                std::int64_t last_ns) {
  std::vector<PsnPoint> points;
  const Track* const found = tracks_.find(stream);
  if (found == nullptr) return points;
  const auto take = [&](const PsnPoint& point) {
    if (point.requester == requester && point.time_ns >= first_ns && point.time_ns <= last_ns) points.push_back(point);
  };
  std::ranges::for_each(found->kept, take);
  std::ranges::for_each(found->recent, take);
  std::optional<std::uint32_t> earlier;
  for (const auto& [from, into] : absorbed_) {
    if (into == stream) earlier = from;
  }
  for (std::size_t i = latest_.size(); i-- > 0 && looks_ < kLooks; ++looks_) {
    const Latest& each = latest_[(oldest_ + i) % latest_.size()];
    if (each.point.time_ns < first_ns) break;
    if (each.stream == stream) take(each.point);
    if (each.stream == earlier) take(turned(each.point));
  }
  sort_and_unite(points);
  return points;
}

std::uint64_t PsnTracks::packets(std::uint32_t stream) const {
  const Track* const found = tracks_.find(stream);
  return found == nullptr ? 0 : found->packets;
}

}  // namespace roce::analyze
