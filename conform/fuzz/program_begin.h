// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "conform/fuzz/draw.h"
#include "conform/fuzz/program.h"

namespace roce::conform::fuzz {

/// The begin of a program that goes on from a known one: a part of that, one action of which may become wrong.
class ProgramBegin {
 public:
  ProgramBegin(Random& random, std::vector<Action> known) : actions_(std::move(known)) {
    if (actions_.empty()) return;
    actions_.resize(1 + draw(random, actions_.size()));
    if (happens(random, 60)) wrong_ = draw(random, actions_.size());
  }

  [[nodiscard]] std::size_t size() const { return actions_.size(); }
  /// Returns the action of a number, which has to be below `size`. `make_wrong` makes it wrong if it is a `Kind`.
  template <typename Kind>
  [[nodiscard]] Action take(std::size_t number, const std::function<void(Kind& action)>& make_wrong) const {
    Action action = actions_[number];
    auto* const one = std::get_if<Kind>(&action);
    if (one != nullptr && number == wrong_) make_wrong(*one);
    return action;
  }

 private:
  std::vector<Action> actions_;
  std::optional<std::size_t> wrong_;
};

}  // namespace roce::conform::fuzz
