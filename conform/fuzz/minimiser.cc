// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/minimiser.h"

#include <array>
#include <utility>

namespace roce::conform::fuzz {

namespace {

class Minimiser {
 public:
  Minimiser(ProgramResult failed, const Trial& trial, std::size_t most_trials)
      : best_(std::move(failed)), trial_(trial), left_(most_trials) {}

  [[nodiscard]] ProgramResult minimise() {
    cut();
    bool is_smaller = true;
    while (is_smaller && left_ > 0) {
      is_smaller = drop_actions();
      is_smaller |= simplify_requests();
      is_smaller |= simplify_program();
    }
    return std::move(best_);
  }

 private:
  /// Takes a program over the best one if it raises the same alarm.
  bool try_program(const Program& program) {
    if (left_ == 0) return false;
    --left_;
    std::optional<ProgramResult> result = trial_(program);
    if (!result || !result->alarm || result->alarm->place != best_.alarm->place) return false;
    best_ = std::move(*result);
    return true;
  }

  // Nothing that comes after the alarm was run; with an alarm at the end all of it was.
  void cut() { (void)try_program(best_.program); }

  bool drop_actions() {
    bool has_dropped = false;
    for (std::size_t size = std::max<std::size_t>(best_.program.actions.size() / 2, 1); size > 0; size /= 2) {
      for (std::size_t at = 0; at + size <= best_.program.actions.size();) {
        Program shorter = best_.program;
        const auto first = shorter.actions.begin() + static_cast<std::ptrdiff_t>(at);
        shorter.actions.erase(first, first + static_cast<std::ptrdiff_t>(size));
        if (try_program(shorter)) {
          has_dropped = true;
        } else {
          ++at;
        }
      }
    }
    return has_dropped;
  }

  /// Tries a change of one request; false if it changes nothing, or the alarm is gone.
  bool try_change(std::size_t at, const std::function<void(Request& request)>& change) {
    if (at >= best_.program.actions.size()) return false;
    Program simpler = best_.program;
    auto* request = std::get_if<Request>(&simpler.actions[at]);
    if (request == nullptr) return false;
    const Request before = *request;
    change(*request);
    return !(before == *request) && try_program(simpler);
  }

  bool simplify_requests() {
    static const std::array<std::function<void(Request&)>, 15> changes{
        [](Request& one) { one.changes.clear(); },
        [](Request& one) {
          if (!one.changes.empty()) one.changes.pop_back();
        },
        [](Request& one) { one.wrong_icrc = false; },
        [](Request& one) { one.qpn_flip = 0; },
        [](Request& one) { one.key = Key::right; },
        [](Request& one) { one.psn = 0; },
        [](Request& one) { one.psn = one.psn > 0   ? 1
                                     : one.psn < 0 ? -1
                                                   : 0; },
        [](Request& one) { one.ack_request = true; },
        [](Request& one) { one.address = 0; },
        [](Request& one) { one.seed = 0; },
        [](Request& one) { one.immediate = 1; },
        [](Request& one) { one.operand = one.compare = 0; },
        [](Request& one) { one.payload = one.length = 8; },
        [](Request& one) { one.payload = one.length = 0; },
        [](Request& one) { one.length = one.payload; },
    };
    bool has_changed = false;
    for (std::size_t at = 0; at < best_.program.actions.size(); ++at) {
      for (const auto& change : changes) has_changed |= try_change(at, change);
    }
    return has_changed;
  }

  bool simplify_program() {
    Program simpler = best_.program;
    simpler.path_mtu = 256;
    simpler.first_psn = Psn{100};
    simpler.access =
        transport::Access::remote_write | transport::Access::remote_read | transport::Access::remote_atomic;
    const bool is_new = simpler.path_mtu != best_.program.path_mtu || simpler.first_psn != best_.program.first_psn ||
                        simpler.access != best_.program.access;
    return is_new && try_program(simpler);
  }

  ProgramResult best_;
  const Trial& trial_;
  std::size_t left_;
};

}  // namespace

ProgramResult minimise(const ProgramResult& failed, const Trial& trial, std::size_t most_trials) {
  return Minimiser{failed, trial, most_trials}.minimise();
}

}  // namespace roce::conform::fuzz
