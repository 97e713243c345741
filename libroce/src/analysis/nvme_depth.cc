// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/nvme_depth.h"

#include <algorithm>

namespace roce::analysis {

void NvmeDepth::add(Time time) {
  count_until(time);
  most_ = std::max(most_, ++now_);
}

void NvmeDepth::remove(Time time) {
  count_until(time);
  if (now_ != 0) --now_;
}

// No time counts twice when a clock goes back, so that the sum is never longer than all the time that a clock can show.
void NvmeDepth::count_until(Time time) {
  if (time <= counted_) return;
  if (now_ != 0) {
    const Duration since = time - counted_;
    sum_ns_ += static_cast<double>(now_) * static_cast<double>(since.count());
    busy_ += since;
  }
  counted_ = time;
}

double NvmeDepth::mean() const {
  return busy_ == Duration::zero() ? 0 : sum_ns_ / static_cast<double>(busy_.count());
}

}  // namespace roce::analysis
