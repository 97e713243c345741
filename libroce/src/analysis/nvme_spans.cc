// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/nvme_spans.h"

#include <algorithm>
#include <iterator>

namespace roce::analysis {

const NvmeSpans::Span* NvmeSpans::starting_at(std::int64_t psn) const {
  const auto found = std::ranges::lower_bound(spans_, psn, {}, &Span::first);
  return found != spans_.end() && found->first == psn ? &*found : nullptr;
}

NvmeSpans::Span* NvmeSpans::holding(std::int64_t psn, Operation operation) {
  const auto behind = std::ranges::upper_bound(spans_, psn, {}, &Span::first);
  if (behind == spans_.begin()) return nullptr;
  Span& span = *std::prev(behind);
  const bool is_behind = span.is_whole && psn >= span.next;
  return span.operation == operation && !is_behind ? &span : nullptr;
}

bool NvmeSpans::give_way(NvmeRoom& room) {
  if (spans_.empty()) return false;
  spans_.pop_front();
  ++room.left;
  return true;
}

void NvmeSpans::add(const Span& span, NvmeRoom& room) {
  if (spans_.size() == kMost || room.left == 0) (void)give_way(room);
  if (room.left == 0) return;
  --room.left;
  spans_.insert(std::ranges::upper_bound(spans_, span.first, {}, &Span::first), span);
}

}  // namespace roce::analysis
