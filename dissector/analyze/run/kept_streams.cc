// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/kept_streams.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/run/stream_figures.h"

namespace roce::analyze {

using analysis::StreamSummary;

KeptStreams::KeptStreams(std::size_t most, std::function<void(const StreamSummary&)> forget)
    : most_(most), forget_(std::move(forget)) {}

void KeptStreams::add(std::vector<StreamSummary>& ended) {
  // Keep room for half as many more, so that each stream is compared only a few times.
  constexpr std::size_t kLeastRoom = 1024;
  std::move(ended.begin(), ended.end(), std::back_inserter(streams_));
  ended.clear();
  if (streams_.size() > most_ + std::max(most_ / 2, kLeastRoom)) prune();
}

std::vector<StreamSummary> KeptStreams::take() {
  prune();
  std::sort(streams_.begin(), streams_.end(),
            [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
  return std::exchange(streams_, {});
}

void KeptStreams::prune() {
  if (streams_.size() <= most_) return;
  const auto behind = streams_.begin() + static_cast<std::ptrdiff_t>(most_);
  std::nth_element(streams_.begin(), behind, streams_.end(), [](const StreamSummary& a, const StreamSummary& b) {
    if (is_worse(a, b)) return true;
    return !is_worse(b, a) && a.stream < b.stream;
  });
  for (auto stream = behind; stream != streams_.end(); ++stream) forget_(*stream);
  left_out_ += static_cast<std::uint64_t>(streams_.end() - behind);
  streams_.erase(behind, streams_.end());
}

}  // namespace roce::analyze
