// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/minimiser.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace roce::conform::fuzz {

namespace {

// Bytes of a message that has data, and not more than it needs.
constexpr std::uint32_t kShortBytes = 8;

// Up to so many, each group of neighbours is tried to be left out.
constexpr std::size_t kFewActions = 8;

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
      is_smaller |= simplify_restarts();
      is_smaller |= simplify_binds();
      is_smaller |= simplify_messages();
      is_smaller |= simplify_posts();
      is_smaller |= simplify_responses();
      is_smaller |= shorten_messages();
      is_smaller |= drop_packets();
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
    const std::size_t actions = best_.program.actions.size();
    // A message of several packets goes only as a whole.
    const bool is_short = actions <= kFewActions;
    for (std::size_t size = is_short ? actions : actions / 2; size > 0; size = is_short ? size - 1 : size / 2) {
      for (std::size_t at = 0; at + size <= best_.program.actions.size();) {
        Program shorter = best_.program;
        const auto first = shorter.actions.begin() + static_cast<std::ptrdiff_t>(at);
        shorter.actions.erase(first, first + static_cast<std::ptrdiff_t>(size));
        if (try_program(shorter) || try_nearer_psns(shorter, at, size)) {
          has_dropped = true;
        } else {
          ++at;
        }
      }
    }
    return has_dropped;
  }

  /// Tries a program in which the requests from an action on that look back do so over fewer PSNs.
  bool try_nearer_psns(Program program, std::size_t from, std::size_t by) {
    bool looks_back = false;
    for (Action& action : std::span{program.actions}.subspan(from)) {
      auto* request = std::get_if<Request>(&action);
      if (request == nullptr || request->psn >= -1) continue;
      request->psn = std::min(request->psn + static_cast<std::int32_t>(by), -1);
      looks_back = true;
    }
    return looks_back && try_program(program);
  }

  /// Tries a change of one action of a kind; false if it changes nothing, or the alarm is gone.
  template <typename Kind>
  bool try_change(std::size_t at, const std::function<void(Kind& action)>& change) {
    if (at >= best_.program.actions.size()) return false;
    Program simpler = best_.program;
    auto* action = std::get_if<Kind>(&simpler.actions[at]);
    if (action == nullptr) return false;
    const Kind before = *action;
    change(*action);
    return !(before == *action) && try_program(simpler);
  }

  /// Tries all changes of all actions of a kind; true if one was taken.
  template <typename Kind, std::size_t N>
  bool simplify(const std::array<std::function<void(Kind& action)>, N>& changes) {
    bool has_changed = false;
    for (std::size_t at = 0; at < best_.program.actions.size(); ++at) {
      for (const auto& change : changes) has_changed |= try_change(at, change);
    }
    return has_changed;
  }

  /// Returns the nearest distance on the same side.
  static std::int32_t nearest(std::int32_t distance) { return distance > 0 ? 1 : distance < 0 ? -1 : 0; }

  bool simplify_requests() {
    static const std::array<std::function<void(Request&)>, 17> changes{
        [](Request& one) { one.changes.clear(); },
        [](Request& one) {
          if (!one.changes.empty()) one.changes.pop_back();
        },
        [](Request& one) { one.wrong_icrc = false; },
        [](Request& one) { one.qpn_flip = 0; },
        [](Request& one) { one.key = Key::right; },
        [](Request& one) { one.psn = 0; },
        [](Request& one) { one.psn = nearest(one.psn); },
        [](Request& one) { one.q_key_flip = 0; },
        [](Request& one) { one.other_version = false; },
        [](Request& one) { one.ack_request = true; },
        [](Request& one) { one.address = 0; },
        [](Request& one) { one.seed = 0; },
        [](Request& one) { one.immediate = 1; },
        [](Request& one) { one.operand = one.compare = 0; },
        [](Request& one) { one.payload = one.length = 8; },
        [](Request& one) { one.payload = one.length = 0; },
        [](Request& one) { one.length = one.payload; },
    };
    return simplify(changes);
  }

  bool simplify_restarts() {
    static const std::array<std::function<void(Restart&)>, 2> changes{
        [](Restart& one) { one.psn = 0; },
        [](Restart& one) { one.psn = nearest(one.psn); },
    };
    return simplify(changes);
  }

  bool simplify_binds() {
    static const std::array<std::function<void(Bind&)>, 5> changes{
        [](Bind& one) { one.region = Bind{}.region; },   [](Bind& one) { one.address = Bind{}.address; },
        [](Bind& one) { one.length = Bind{}.length; },   [](Bind& one) { one.access = Bind{}.access; },
        [](Bind& one) { one.variant = Bind{}.variant; },
    };
    return simplify(changes);
  }

  bool simplify_messages() {
    static const std::array<std::function<void(Message&)>, 6> changes{
        [](Message& one) { one.changes.clear(); }, [](Message& one) { one.wrong_icrc = false; },
        [](Message& one) { one.local_flip = 0; },  [](Message& one) { one.remote_flip = 0; },
        [](Message& one) { one.transaction = 0; }, [](Message& one) { one.qpn_flip = 0; },
    };
    return simplify(changes);
  }

  bool simplify_posts() {
    static const std::array<std::function<void(Post&)>, 4> changes{
        [](Post& one) { one.opcode = transport::WorkOpcode::send; },
        [](Post& one) { one.own_q_key = false; },
        [](Post& one) { one.length = std::min(one.length, kShortBytes); },
        [](Post& one) { one.length = 0; },
    };
    return simplify(changes);
  }

  bool simplify_responses() {
    static const std::array<std::function<void(Response&)>, 9> changes{
        [](Response& one) { one.wrong_icrc = false; },
        [](Response& one) { one.qpn_flip = 0; },
        [](Response& one) { one.syndrome = Response{}.syndrome; },
        [](Response& one) { one.psn = 0; },
        [](Response& one) { one.psn = nearest(one.psn); },
        [](Response& one) { one.seed = 0; },
        [](Response& one) { one.value = 0; },
        [](Response& one) { one.payload = std::min(one.payload, kShortBytes); },
        [](Response& one) { one.payload = 0; },
    };
    return simplify(changes);
  }

  /// Shortens a READ together with its answers: those that are as long as its last packet.
  bool shorten_messages() {
    bool has_changed = false;
    for (std::size_t at = 0; at < best_.program.actions.size(); ++at) {
      Program simpler = best_.program;
      auto* post = std::get_if<Post>(&simpler.actions[at]);
      if (post == nullptr || post->length == 0) continue;
      const std::uint32_t last = (post->length - 1) % simpler.path_mtu + 1;
      if (last <= kShortBytes) continue;
      post->length -= last - kShortBytes;
      for (Action& action : simpler.actions) {
        auto* response = std::get_if<Response>(&action);
        if (response != nullptr && response->payload == last) response->payload = kShortBytes;
      }
      has_changed |= try_program(simpler);
    }
    return has_changed;
  }

  /// Takes packets out of the middle of a READ, together with their answers.
  bool drop_packets() {
    bool has_dropped = false;
    for (std::size_t at = 0; at < best_.program.actions.size(); ++at) {
      for (std::size_t answer = at + 1; answer < best_.program.actions.size();) {
        Program shorter = best_.program;
        auto* post = std::get_if<Post>(&shorter.actions[at]);
        const auto* response = std::get_if<Response>(&shorter.actions[answer]);
        const std::uint32_t mtu = shorter.path_mtu;
        const bool is_middle = post != nullptr && post->length > 2 * mtu && response != nullptr &&
                               response->opcode == Opcode::rc_read_response_middle && response->payload == mtu;
        if (is_middle) {
          post->length -= mtu;
          shorter.actions.erase(shorter.actions.begin() + static_cast<std::ptrdiff_t>(answer));
        }
        const bool is_dropped = is_middle && try_program(shorter);
        has_dropped |= is_dropped;
        if (!is_dropped) ++answer;
      }
    }
    return has_dropped;
  }

  bool simplify_program() {
    Program simpler = best_.program;
    simpler.version = RoceVersion::none;
    bool has_changed = simpler.version != best_.program.version && try_program(simpler);
    simpler = best_.program;
    simpler.state = transport::QpState::rts;
    has_changed |= simpler.state != best_.program.state && try_program(simpler);
    simpler = best_.program;
    simpler.retry_count = kEndlessRetries;
    has_changed |= simpler.retry_count != best_.program.retry_count && try_program(simpler);
    return simplify_parameters() || has_changed;
  }

  bool simplify_parameters() {
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
