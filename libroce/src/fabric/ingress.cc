// SPDX-License-Identifier: BSD-2-Clause
#include "fabric/ingress.h"

namespace roce::fabric::detail {

SharedBuffer::SharedBuffer(const SwitchConfig& config, std::uint64_t shared)
    : shared_(shared), lossy_alpha_(config.lossy_alpha) {
  if (!config.pfc) return;
  reserve_ = config.pfc->reserve;
  xoff_ = config.pfc->xoff.value_or(0);
  alpha_ = config.pfc->alpha;
  xon_offset_ = config.pfc->xon_offset;
  lossless_ = config.pfc->priorities;
}

bool SharedBuffer::admit(Ingress& ingress, std::uint32_t priority, std::uint32_t size) {
  const std::uint64_t reserve = reserve_of(priority);
  const std::uint64_t before = ingress.shared(priority, reserve);
  const std::uint64_t main = ingress.held[priority] - ingress.headroom[priority] + size;
  const std::uint64_t more = (main > reserve ? main - reserve : 0) - before;
  const bool fits = more <= free();
  if (is_lossless(priority)) {
    // Once the sender was told to stop, what still comes is the headroom's, and the rest of the buffer is for others.
    if (fits && (ingress.stopped & bit_of(priority)) == 0) {
      ingress.held[priority] += size;
      used_ += more;
      return true;
    }
    if (ingress.headroom[priority] + size > ingress.most_headroom) return false;
    ingress.held[priority] += size;
    ingress.headroom[priority] += size;
    return true;
  }
  if (!fits || (more > 0 && static_cast<double>(before + more) > lossy_alpha_ * static_cast<double>(free()))) {
    return false;
  }
  ingress.held[priority] += size;
  used_ += more;
  return true;
}

void SharedBuffer::release(Ingress& ingress, std::uint32_t priority, std::uint32_t size) {
  const std::uint64_t before = ingress.shared(priority, reserve_of(priority));
  ingress.headroom[priority] -= std::min<std::uint64_t>(size, ingress.headroom[priority]);
  ingress.held[priority] -= size;
  used_ -= before - std::min(before, ingress.shared(priority, reserve_of(priority)));
}

bool SharedBuffer::judge(Ingress& ingress, std::uint32_t priority) const {
  if (!is_lossless(priority)) return false;
  const std::uint8_t bit = bit_of(priority);
  const std::uint64_t shared = ingress.shared(priority, reserve_of(priority));
  const std::uint64_t limit = threshold();
  if ((ingress.stopped & bit) == 0) {
    if (ingress.headroom[priority] == 0 && (shared == 0 || shared < limit)) return false;
    ingress.stopped |= bit;
    return true;
  }
  const std::uint64_t low = limit > xon_offset_ ? limit - xon_offset_ : 0;
  if (ingress.headroom[priority] != 0 || shared > low) return false;
  ingress.stopped &= static_cast<std::uint8_t>(~bit);
  return true;
}

}  // namespace roce::fabric::detail
