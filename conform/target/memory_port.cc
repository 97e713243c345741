// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/memory_port.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace roce::conform {

namespace {

// A device that never stops sending must not keep the tester from what it sent first.
constexpr std::size_t kTurnsAtOnce = 64;

link::MemoryLink::Pair make_ends() {
  auto ends = link::MemoryLink::make_pair({.capacity_frames = 65'536});
  if (!ends) throw std::runtime_error(ends.error().message);
  return std::move(*ends);
}

template <typename T>
T must(link::LinkResult<T> result) {
  if (!result) throw std::logic_error(result.error().message);
  return std::move(*result);
}

}  // namespace

MemoryPort::MemoryPort(transport::Device& device) : ends_(make_ends()), port_(device, *ends_.first, nullptr) {}

void MemoryPort::receive(std::span<const std::byte> frame, Time now) {
  (void)must(ends_.second->send(std::array{link::TxFrame{.bytes = frame}}));
  (void)must(port_.turn(now));
}

void MemoryPort::collect(std::deque<SeenFrame>& sent, Time now) {
  for (std::size_t turn = 0; turn < kTurnsAtOnce && must(port_.turn(now)); ++turn) {
  }
  std::array<link::RxFrame, 1> frames;
  while (must(ends_.second->receive(frames)) != 0) {
    sent.push_back({now, {frames[0].bytes.begin(), frames[0].bytes.end()}});
  }
}

}  // namespace roce::conform
