// SPDX-License-Identifier: BSD-2-Clause
#include "impair/flow_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "impair/random.h"

namespace roce::impair {

namespace {

constexpr std::size_t kMaxPsns = std::size_t{1} << 24U;
constexpr std::size_t kMaxFlows = std::size_t{1} << 24U;

}  // namespace

FlowTable::FlowTable(std::size_t flows, std::size_t psns_per_flow)
    : capacity_(std::clamp<std::size_t>(flows, 1, kMaxFlows)),
      rows_(std::bit_ceil(std::clamp<std::size_t>(psns_per_flow, 1, kMaxPsns))) {}

std::size_t FlowTable::Hash::operator()(const Flow& flow) const {
  std::uint64_t hash = std::uint64_t{flow.dest_qp.value()} << 1U | static_cast<std::uint64_t>(flow.direction);
  const auto mix = [&](const Gid& gid) {
    for (std::size_t half = 0; half < 16; half += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < 8; ++i) word = word << 8U | gid.octets[half + i];
      hash = Random{hash ^ word}.next();
    }
  };
  mix(flow.source);
  mix(flow.destination);
  return static_cast<std::size_t>(hash);
}

void FlowTable::unlink(std::uint32_t index) {
  Entry& entry = entries_[index];
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
}

void FlowTable::link_newest(std::uint32_t index) {
  Entry& entry = entries_[index];
  entry.newer = kNone;
  entry.older = newest_;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = index;
  newest_ = index;
}

std::uint32_t FlowTable::find_or_make(const Flow& flow) {
  if (newest_ != kNone && entries_[newest_].flow == flow) return newest_;
  if (const auto found = index_.find(flow); found != index_.end()) {
    unlink(found->second);
    link_newest(found->second);
    return found->second;
  }
  if (entries_.size() < capacity_) {
    const auto index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
    entries_.back().flow = flow;
    entries_.back().counts.resize(rows_);
    index_.emplace(flow, index);
    link_newest(index);
    return index;
  }
  const std::uint32_t index = oldest_;
  Entry& entry = entries_[index];
  auto node = index_.extract(entry.flow);
  node.key() = flow;
  index_.insert(std::move(node));
  entry.flow = flow;
  entry.first_request.reset();
  entry.first_response.reset();
  std::ranges::fill(entry.counts, std::array<Count, 2>{});
  unlink(index);
  link_newest(index);
  ++forgotten_;
  return index;
}

Occurrence FlowTable::count(const Flow& flow, Psn psn, PacketClass packet_class, bool is_response) {
  Entry& entry = entries_[find_or_make(flow)];
  Occurrence occurrence;
  if (packet_class != PacketClass::cnp) {
    std::optional<Psn>& first = is_response ? entry.first_response : entry.first_request;
    if (!first) first = psn;
    occurrence.relative_psn = psn.distance_from(*first);
  }
  auto& row = entry.counts[psn.value() & (rows_ - 1)];
  const std::uint32_t key = static_cast<std::uint32_t>(packet_class) << 24U | psn.value();
  const auto is_it = [&](const Count& count) { return count.transmissions != 0 && count.key == key; };
  if (!is_it(row[0])) {
    std::swap(row[0], row[1]);
    if (!is_it(row[0])) row[0] = {key, 0};
  }
  if (row[0].transmissions != ~std::uint32_t{0}) ++row[0].transmissions;
  occurrence.transmission = row[0].transmissions;
  return occurrence;
}

}  // namespace roce::impair
