// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "conform/fuzz/generator.h"
#include "conform/fuzz/program_begin.h"
#include "conform/fuzz/requester_model.h"

namespace roce::conform::fuzz {

/// Makes up a program for the device's requester while it runs: it posts requests, and gets responses of which most are
/// right. `begin` is what the program begins with, which may be wrong in one more way.
class RequesterGenerator {
 public:
  RequesterGenerator(Random& random, std::vector<Action> begin);

  [[nodiscard]] std::optional<Action> next(const RequesterModel& model);

 private:
  Random& random_;
  std::size_t length_;  ///< actions in all
  ProgramBegin begin_;
  std::size_t next_ = 0;
  std::uint32_t posts_ = 0;
};

/// Returns a response that is right in the state of the device; to what it has already, if it waits for nothing.
[[nodiscard]] Response legal_response(const RequesterModel& model, Random& random);

/// Makes one thing about a response wrong, or at least rare.
void mutate(Response& response, const RequesterModel& model, Random& random);

}  // namespace roce::conform::fuzz
