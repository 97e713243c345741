// SPDX-License-Identifier: BSD-2-Clause
// Marks, CNPs and the rate of each direction over time, in bounded memory.
#include "analyze/charts/congestion_curves.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace roce::analyze {

namespace {

using analysis::PacketRole;
using analysis::VerdictKind;

bool is_said(const analysis::PacketAnalysis& known, VerdictKind kind) {
  return std::ranges::find(known.verdicts, kind, &analysis::Verdict::kind) != known.verdicts.end();
}

void join(CongestionCurve::Interval& into, const CongestionCurve::Interval& more) {
  into.bytes += more.bytes;
  into.marks += more.marks;
  into.cnps += more.cnps;
}

}  // namespace

void CongestionCurve::add(std::int64_t time_ns, const Interval& more) {
  if (!start_ns_) start_ns_ = time_ns;
  // Wraps instead of overflowing: times may be as far apart as 64 bits allow.
  const std::uint64_t since =
      time_ns < *start_ns_ ? 0 : static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(*start_ns_);
  while (since / width_ns_ >= kMost) {
    for (std::size_t i = 0; i < intervals_.size(); i += 2) {
      Interval joined = intervals_[i];
      if (i + 1 < intervals_.size()) join(joined, intervals_[i + 1]);
      intervals_[i / 2] = joined;
    }
    intervals_.resize((intervals_.size() + 1) / 2);
    width_ns_ *= 2;
  }
  const auto at = static_cast<std::size_t>(since / width_ns_);
  if (at >= intervals_.size()) intervals_.resize(at + 1);
  join(intervals_[at], more);
}

void CongestionCurves::add(const analysis::Observation& seen, const analysis::PacketAnalysis& known) {
  if (known.absorbed != analysis::kNoStream) absorb(known.absorbed, known.stream);
  const bool is_cnp = known.role == PacketRole::cnp;
  const bool is_connected = known.role != PacketRole::datagram && known.role != PacketRole::management;
  const bool may_be_marked = (seen.traffic_class & 3) != 0;
  const bool counts = is_cnp || (is_connected && analysis::is_data(seen) && may_be_marked);
  if (known.stream == analysis::kNoStream || seen.icrc_bad || !counts) return;
  if (is_said(known, VerdictKind::duplicate)) return;
  Curves* const curves = streams_.find_or_make(known.stream);
  if (curves == nullptr) return;
  const std::int64_t time_ns = seen.time.time_since_epoch().count();
  if (is_cnp) {
    Data& sender = (*curves)[1 - known.direction];
    sender.curve.add(time_ns, {0, 0, 1});
    sender.fit.on_cnp(seen.time);
  } else {
    Data& sender = (*curves)[known.direction];
    sender.curve.add(time_ns, {seen.wire_length, seen.is_ce() ? 1U : 0U, 0});
    sender.fit.add(seen.time, seen.wire_length);
  }
}

void CongestionCurves::absorb(std::uint32_t from, std::uint32_t into) {
  const std::unique_ptr<Curves> old = streams_.extract(from);
  Curves* const curves = old == nullptr ? nullptr : streams_.find_or_make(into);
  if (curves == nullptr) return;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    CongestionCurve& curve = (*curves)[direction].curve;
    Data& earlier = (*old)[1 - direction];
    if (curve.intervals().empty()) {
      (*curves)[direction] = std::move(earlier);
      continue;
    }
    (*curves)[direction].fit.absorb(std::move(earlier.fit));
    const CongestionCurve& other = earlier.curve;
    for (std::size_t i = 0; i < other.intervals().size(); ++i) {
      curve.add(other.start_ns() + static_cast<std::int64_t>(i * other.width_ns()), other.intervals()[i]);
    }
  }
}

const CongestionCurves::Data* CongestionCurves::data(std::uint32_t stream, std::uint8_t direction) const {
  const Curves* const curves = streams_.find(stream);
  return curves == nullptr || (*curves)[direction].curve.intervals().empty() ? nullptr : &(*curves)[direction];
}

const CongestionCurve* CongestionCurves::curve(std::uint32_t stream, std::uint8_t direction) const {
  const Data* const found = data(stream, direction);
  return found == nullptr ? nullptr : &found->curve;
}

const analysis::RateFit* CongestionCurves::fit(std::uint32_t stream, std::uint8_t direction) const {
  const Data* const found = data(stream, direction);
  return found == nullptr ? nullptr : &found->fit;
}

}  // namespace roce::analyze
