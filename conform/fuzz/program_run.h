// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/device_model.h"
#include "conform/fuzz/manager_model.h"
#include "conform/fuzz/program.h"
#include "conform/target/cm_service.h"

namespace roce::conform::fuzz {

/// The judge that an alarm comes from.
enum class Oracle : std::uint8_t {
  answer,      ///< the device answered what the specification does not allow, or not at all
  form,        ///< a frame of the device has a form that no frame may have
  completion,  ///< a completion is missing, wrong or too many
  state,       ///< the QP is in a state that it may not be in
  memory,      ///< memory is not as the requests made it
  secret,      ///< a frame of the device has bytes of memory that nobody may read
  event,       ///< an event of the QP is missing, or one too many
  counters,    ///< a counter of the device has an impossible value
  liveness,    ///< a QP that the program did not use is served no more
  gone,        ///< the device, or the way to it, stopped answering
};
/// All of them.
inline constexpr std::array kOracles{Oracle::answer,   Oracle::form,   Oracle::completion, Oracle::state,
                                     Oracle::memory,   Oracle::secret, Oracle::event,      Oracle::counters,
                                     Oracle::liveness, Oracle::gone};
/// Returns the name of an oracle as the enumerators have it.
[[nodiscard]] std::string_view to_string(Oracle oracle);

/// A deviation of the device from the specification.
struct Alarm {
  Oracle oracle = Oracle::answer;
  std::size_t action = 0;  ///< index of the action that showed it; behind the last one: the end of the program
  std::string what;        ///< a sentence: what was allowed, and what came
  std::string place;       ///< the same for alarms that are one fault: the kind of request, what was allowed and seen
  std::string counter{};   ///< the name of a counter that is wrong
  std::optional<std::uint64_t> counter_least{};  ///< what it has to be at least; empty: the frames that came
};

/// An action, and what became of it.
struct Turn {
  Action action;
  std::vector<std::byte> frame{};      ///< of a request
  Psn psn{};                           ///< of a request; the first one after a Restart
  std::uint64_t wr_id = 0;             ///< of a receive or a Bind
  transport::Sge buffer{};             ///< of a receive
  bool is_flushed = false;             ///< a receive that was posted in ERR
  BindOutcome bind{};                  ///< of a Bind: what has to become of it, …
  std::vector<ReceiveDone> flushed{};  ///< … and the receives that fail with it
  Expectation expectation{};           ///< of a request
  std::optional<std::size_t> taken{};  ///< which one of `expectation` the device did
  std::vector<SeenFrame> answers{};
  std::vector<transport::Completion> completions{};  ///< of the send queue
  std::vector<MemoryWrite> writes{};                 ///< the data of READs and atomics that these completed
  CmExpectation cm{};                                ///< of a Message; `taken` is one of these
  std::vector<CmReport> reports{};                   ///< of the communication manager
};

/// Stands for what happened at an action: state, what was done, answer, next state.
struct Signature {
  std::uint64_t value = 0;
  std::size_t action = 0;  ///< its index
};

/// A program as it ran.
struct ProgramResult {
  Program program;
  std::vector<Turn> turns{};
  std::optional<Alarm> alarm{};
  Regions regions{};
  RoceVersion other_version{};                          ///< of requests that do not have that of the QP
  bool is_stopped = false;                              ///< the QP has to be in ERR at the end
  std::vector<AwaitedEvent> events{};                   ///< of the QP, in their order
  std::optional<transport::QpState> connected_state{};  ///< in which the QP of a connection has to be
  std::optional<std::uint64_t> missing{};               ///< the request of the device that has to have a completion
  std::optional<Psn> unrepeated{};                      ///< what the device has to send again
  std::optional<std::uint64_t> exhausted{};  ///< the request of the device that has to fail: it has no retries left
  std::optional<Duration> least_wait{};      ///< the device sent something again before this had passed
  std::vector<Signature> signatures{};       ///< of actions about which something can be new
  std::vector<unsigned> states{};            ///< abstract states of the three models
  std::size_t frames = 0;                    ///< in both directions
};

/// The reason why a program cannot run that Bench::port_of has no port of.
inline constexpr std::string_view kNoPort =
    "a program is for a type of QP or a version of RoCE that the device does not have";

/// Says what a program does next.
class ActionSource {
 public:
  ActionSource() = default;
  ActionSource(const ActionSource&) = delete;
  ActionSource& operator=(const ActionSource&) = delete;
  virtual ~ActionSource() = default;
  /// Returns the next action, as the device's state now asks for; empty at the end.
  [[nodiscard]] virtual std::optional<Action> next(const DeviceModel& model) = 0;
};

/// Runs a program on a new QP: its frame (`program.actions` is not looked at) with the actions that `source` has. Ends
/// at the first alarm. Error: the device refuses a verb. Throws DeviceGone if the device was gone before the first
/// action.
[[nodiscard]] TargetResult<ProgramResult> run_program(Bench& bench, const Program& program, ActionSource& source);
/// Runs the actions of a program, whichever half of the device it is for.
[[nodiscard]] TargetResult<ProgramResult> run_program(Bench& bench, const Program& program);

}  // namespace roce::conform::fuzz
