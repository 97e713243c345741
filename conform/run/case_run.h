// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/monitor.h"
#include "conform/run/outcome.h"
#include "conform/run/test_bed.h"

namespace roce::conform {

/// Returns a frame as failures name it: `RC_ACKNOWLEDGE PSN 17`.
[[nodiscard]] std::string frame_text(const SeenFrame& frame);

/// Times of a target: how long its answers may take.
struct Timing {
  Duration answer = std::chrono::milliseconds{100};  ///< `within` of a step that says nothing else
  Duration quiet = std::chrono::milliseconds{1};     ///< time after which the device is silent
  Duration early{};                                  ///< how much before its time a frame may be seen
  Duration late{};                                   ///< how much after its time a frame may be seen
};

/// Runs one instance of a case against a device: makes its objects, follows its steps, and compares what the device
/// does with what they say. At the end no frame may be left, and memory has to be as the steps said.
class CaseRun final : private Scope {
 public:
  CaseRun(Target& target, const Instance& instance, std::uint64_t seed, const Timing& timing);

  /// Runs the case; to be called once.
  [[nodiscard]] CaseOutcome run();

 private:
  void run_case();

  /// True while the run goes on. If false, `outcome_` has the reason.
  using Verdict = bool;

  [[nodiscard]] std::optional<Value> find(std::string_view name) const override;

  // Steps.
  [[nodiscard]] Verdict run_steps(const std::vector<Step>& steps);
  [[nodiscard]] Verdict run_step(const Step& step);
  /// Counts a step or a frame; false if there were too many.
  [[nodiscard]] Verdict count_work(const Place& place);
  /// Runs a step that asks the device, which is seen on the wire only; empty for another step.
  [[nodiscard]] std::optional<Verdict> run_on_wire_only(const Step& step);
  /// Throws DeviceLacks for a request that the server's QP would not execute if it were right: what follows would not
  /// be what the case says.
  void check_carried_out(const PeerQp& qp, const Packet& packet);
  /// Waits for the answer of the program to a message that was delivered to it.
  [[nodiscard]] Verdict expect_delivery(const Step& step);
  [[nodiscard]] Verdict run_action(const Inject& action, const Step& step);
  [[nodiscard]] Verdict run_action(const ExpectFrame& action, const Step& step);
  [[nodiscard]] Verdict run_action(const ExpectInAnyOrder& action, const Step& step);
  [[nodiscard]] Verdict run_action(const ExpectOneOf& action, const Step& step);
  /// Takes the branch that fits the next completion of the queue that `first` names.
  [[nodiscard]] Verdict choose_by_completion(const ExpectOneOf& action, const AwaitCompletion& first, const Step& step);
  [[nodiscard]] Verdict run_action(const Quiet& action, const Step& step);
  [[nodiscard]] Verdict run_action(const Probe& action, const Step& step);
  [[nodiscard]] Verdict run_action(const Verb& action, const Step& step);
  [[nodiscard]] Verdict run_action(const AwaitCompletion& action, const Step& step);
  [[nodiscard]] Verdict run_action(const NoCompletion& action, const Step& step);
  [[nodiscard]] Verdict run_action(const AwaitEvent& action, const Step& step);
  [[nodiscard]] Verdict run_action(const NoEvent& action, const Step& step);
  [[nodiscard]] Verdict run_action(const AwaitCmEvent& action, const Step& step);
  [[nodiscard]] Verdict run_action(const AwaitState& action, const Step& step);
  [[nodiscard]] Verdict run_action(const CheckMemory& action, const Step& step);
  [[nodiscard]] Verdict run_action(const CheckCounters& action, const Step& step);
  /// Returns how the counters that the device has have grown, beside how they should have.
  [[nodiscard]] CaseResult<std::vector<Comparison>> compare_counters(const CheckCounters& action);
  [[nodiscard]] Verdict run_action(const Assign& action, const Step& step);
  [[nodiscard]] Verdict run_action(const Check& action, const Step& step);
  [[nodiscard]] Verdict run_action(const Repeat& action, const Step& step);
  [[nodiscard]] Verdict run_action(const ForEach& action, const Step& step);
  [[nodiscard]] Verdict run_action(const Wait& action, const Step& step);

  // Completions.
  /// Returns the next completion of a queue; empty if none came before `until`, or the run is over.
  [[nodiscard]] std::optional<transport::Completion> next_completion(const PeerQp& qp, bool is_receive, Time until);
  /// Compares a completion with what a step expects; empty if the run is over.
  [[nodiscard]] std::optional<std::vector<Comparison>> compare_completion(const AwaitCompletion& action,
                                                                          const transport::Completion& completion);

  // Verbs; empty if the run is over.
  [[nodiscard]] std::optional<TargetResult<void>> call(const Verb& action, const Step& step);
  [[nodiscard]] std::optional<TargetResult<void>> end_object(const Verb& action, const Step& step);
  [[nodiscard]] std::optional<TargetResult<void>> create(const Verb& action, const Step& step);
  [[nodiscard]] std::optional<TargetResult<void>> join(const Verb& action, const PeerQp& qp, const Step& step);
  [[nodiscard]] std::optional<TargetResult<void>> call_cm(const Verb& action, const Step& step);
  [[nodiscard]] std::optional<TargetResult<void>> arm(const Verb& action, const Step& step);
  [[nodiscard]] std::optional<TargetResult<void>> reconnect(const Verb& action, PeerQp& qp);
  [[nodiscard]] std::optional<TargetResult<void>> post_receive(const Verb& action, const PeerQp& qp);
  [[nodiscard]] std::optional<TargetResult<void>> post_srq_receive(SrqNumber srq, const Verb& action);
  [[nodiscard]] std::optional<TargetResult<void>> post_bind(const Verb& action, const PeerQp& qp, const Step& step);

  /// Waits until a byte of memory changes, at most as long as a frame may be late: nothing acknowledges an answer to
  /// the device, so it may still be under way.
  [[nodiscard]] Verdict wait_for_change(std::uint64_t address);

  // Frames.
  /// Adds a frame to the burst, which goes out when it is full or by send_burst().
  [[nodiscard]] Verdict send(const FrameSpec& frame, const Step& step);
  void send_burst();
  /// Returns the next frame of the device on a QP; empty if none came before `until`, or the run is over.
  /// Takes a frame that the program of the QP sent, and the target's answer to it.
  void take_of_program(PeerQp& qp, const SeenFrame& frame, const Packet& packet);
  [[nodiscard]] std::optional<SeenFrame> next_frame(PeerQp& qp, Time until);
  /// Waits for any frame until `until` and puts it to its QP. False if none came, or the run is over.
  [[nodiscard]] bool wait_for_frame(Time until);
  /// Compares a frame with one pattern, and takes over what it says.
  [[nodiscard]] Verdict take_frame(const FramePattern& pattern, const SeenFrame& frame, PeerQp& qp, const Step& step);
  [[nodiscard]] Verdict expect_one(const FramePattern& pattern, const Step& step);
  /// Returns the single frames that patterns stand for; empty if the run is over.
  [[nodiscard]] std::optional<std::vector<FramePattern>> single_frames(const std::vector<FramePattern>& patterns);
  /// True if a frame of a QP is as a pattern says; empty if the run is over.
  [[nodiscard]] std::optional<bool> fits(const FramePattern& pattern, const SeenFrame& frame, const PeerQp& qp);
  [[nodiscard]] Verdict check_times(const SeenFrame& frame, const Step& step);
  void remember(const Step& step, const std::vector<std::byte>& bytes);
  [[nodiscard]] Verdict save_fields(const Step& step, const Packet& packet, Duration elapsed);
  [[nodiscard]] Verdict finish();

  // Values.
  [[nodiscard]] std::optional<std::uint64_t> number(const Expression& expression, const Place& place);
  [[nodiscard]] std::optional<std::uint64_t> repeats(const Expression& expression, const Place& place);
  [[nodiscard]] std::optional<Duration> duration(const std::optional<Expression>& expression, Duration otherwise,
                                                 const Place& place);
  [[nodiscard]] std::optional<std::vector<Value>> values_of(const std::vector<Choice>& choices, const Place& place);
  [[nodiscard]] PeerQp* qp_of(const std::string& name, const Place& place);
  /// As `qp_of`, for what only a QP has that the case made: QP1 is the device's own.
  [[nodiscard]] PeerQp* own_qp_of(const std::string& name, const Place& place);
  [[nodiscard]] Time begin_of(const Step& step) const;
  /// Returns the time up to which a step may wait; empty if the run is over.
  [[nodiscard]] std::optional<Time> deadline_of(const Step& step);

  /// True if a frame came so late after the step that `step.since` names that it may, or before that was done once
  /// more: the tester itself was too slow then.
  [[nodiscard]] bool shows_late_tester(const SeenFrame& frame, const Step& step, Duration within) const;

  Verdict fail(const Place& place, std::string what, std::vector<Comparison> fields = {});
  /// As `fail`, because something did not come.
  Verdict miss(const Place& place, std::string what);
  /// As `fail`, but nothing is said of the device.
  Verdict be_late(const Place& place, std::string what);
  /// Ends the run because the case is wrong.
  Verdict give_up(CaseError error);

  Target& target_;
  const Instance& instance_;
  Timing timing_;
  TestBed bed_;
  Monitor monitor_;
  CaseOutcome outcome_;
  std::map<std::string, Value, std::less<>> values_;  ///< set and saved
  struct Labelled {
    std::vector<Time> times;  ///< at which the step was done
    std::vector<std::byte> frame;
  };
  std::map<std::string, Labelled, std::less<>> labels_;
  std::vector<std::vector<std::byte>> burst_;      ///< frames that go to the device together
  bool is_later_burst_ = false;                    ///< times count from the first burst of a step
  std::optional<transport::Completion> chosen_;    ///< it chose the branch whose first step takes it next
  std::map<std::string, std::uint64_t> counters_;  ///< at the beginning, if the case reads them
  bool is_wire_only_ = false;                      ///< nobody can ask the device
  std::uint64_t unseen_steps_ = 0;                 ///< that were not run, because the device is seen on the wire only
  std::uint64_t message_bytes_ = 0;                ///< of the SEND that was begun last, where receives have a limit
  std::uint64_t deliveries_ = 0;                   ///< messages of the program that no step has taken
  Time last_{};                                    ///< when the step before happened
  std::uint64_t work_ = 0;                         ///< steps and frames so far
  int line_ = 0;                                   ///< of the step that runs
};

}  // namespace roce::conform
