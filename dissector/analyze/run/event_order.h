// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "roce/analysis/verdict.h"

namespace roce::analyze {

/// Sorts verdicts into the order of the packets that they are about, and numbers them from 1. At most `kHeld` are held
/// back: a retrospective verdict that comes later than that keeps the place at which it came.
class EventOrder {
 public:
  using Use = std::function<void(std::uint64_t number, const analysis::Verdict& verdict)>;

  explicit EventOrder(Use use) : use_(std::move(use)) {}

  /// Sets the count of verdicts that earlier runs have numbered. Must be called first.
  void go_on_from(std::uint64_t number) { number_ = number; }
  void add(const analysis::Verdict& verdict);
  /// Hands over all verdicts that are still held back. Retrospective ones that come later keep their place after them.
  void finish();

 private:
  static constexpr std::size_t kHeld = 1U << 20U;

  void release(std::size_t count);

  Use use_;
  std::vector<analysis::Verdict> held_;
  std::uint64_t number_ = 0;
};

}  // namespace roce::analyze
