// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conform/fuzz/draw.h"
#include "conform/fuzz/program_begin.h"
#include "conform/fuzz/program_run.h"

namespace roce::conform::fuzz {

/// The types of QPs and the versions of RoCE that a device has.
struct Variety {
  std::vector<transport::QpType> other_types{};  ///< beside RC
  std::vector<RoceVersion> other_versions{};     ///< beside that of its own port
  bool has_manager = false;                      ///< of communication, that the tester can ask
};

/// Returns the frame of a new program, without actions. Most are for RC over the device's own port, about which most is
/// to be known.
[[nodiscard]] Program new_program(Random& random, const Variety& variety);

/// Returns a request that is right in the state of the device; sometimes the same as an older one.
[[nodiscard]] Request legal_request(const DeviceModel& model, Random& random);

/// Makes one thing about a request wrong, or at least rare.
void mutate(Request& request, const DeviceModel& model, Random& random);

/// Makes up a program while it runs: most requests are right in the state that the device is in, some are wrong in one
/// way and few in several. At the end comes a WRITE that shows whether the QP is as it should be. `begin` is what the
/// program begins with, which may be wrong in one more way.
class Generator final : public ActionSource {
 public:
  Generator(Random& random, std::vector<Action> begin);

  [[nodiscard]] std::optional<Action> next(const DeviceModel& model) override;

 private:
  Random& random_;
  std::size_t length_;          ///< actions in all
  bool is_for_deregistration_;  ///< the region of `Key::lent` goes somewhere
  bool is_for_windows_;
  ProgramBegin begin_;
  std::size_t next_ = 0;
};

}  // namespace roce::conform::fuzz
