// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "conform/language/expression.h"
#include "conform/language/place.h"

namespace roce::conform {

/// The name of the QP that a case has without asking for it, and that steps without `on` are about.
inline constexpr const char* kDefaultQp = "qp";
/// The name of QP1, to which frames of the communication manager go.
inline constexpr const char* kGsiQp = "gsi";

/// A name and the value that it gets.
struct Setting {
  Place place;
  std::string name{};
  Expression value;
};

/// A frame to be sent to the device: the legal frame of an opcode, with fields that differ.
struct FrameSpec {
  Place place;
  Expression opcode;
  std::string on = kDefaultQp;        ///< the QP that the frame is for
  std::vector<Setting> fields{};      ///< by the names of `PacketSpec`, and `rdma.va`, `rdma.r_key`, `rdma.length`
  std::vector<Setting> after_icrc{};  ///< fields that are changed after the ICRC was computed
  std::optional<Expression> flip{};   ///< a bit that is inverted, counted from the first of the network header
  std::optional<Expression> cut{};    ///< bytes that are missing at the end
  std::optional<Expression> times{};
  struct Change {
    Expression field;
    Expression value;
  };
  std::optional<Change> change{};  ///< of a field whose name is a value too, after `fields`
};

/// One of the values that a field may have: a value (or a list of them), or a range.
struct Choice {
  Expression first;
  std::optional<Expression> last{};
};

/// A field of a frame and what it has to be.
struct FieldPattern {
  Place place;
  std::string name{};
  bool is_negated = false;
  std::vector<Choice> choices{};  ///< empty: any value
};

/// Responses to one READ request: FIRST, MIDDLE …, LAST, or ONLY.
struct ReadResponses {
  Expression psn;     ///< of the first
  Expression length;  ///< bytes of all together
  std::optional<Expression> data{};
};

/// A frame that is expected from the device.
struct FramePattern {
  Place place;
  std::string text{};  ///< as a failure names it: `ACK [$E, $M + 1]`
  std::string on = kDefaultQp;
  std::optional<Expression> opcode{};  ///< a name or a list of names; empty: any
  std::vector<FieldPattern> fields{};
  std::optional<ReadResponses> read{};  ///< instead of one frame
};

struct Step;

struct Inject {
  std::vector<FrameSpec> frames{};
};
struct ExpectFrame {
  FramePattern pattern;
};
struct ExpectInAnyOrder {
  std::vector<FramePattern> patterns{};
};
/// Takes the branch whose first step fits the next frame or, if one begins with `completion`, the next completion. A
/// branch that begins with `quiet` fits if none comes.
struct ExpectOneOf {
  struct Branch {
    Place place;
    std::string name;
    std::vector<Step> steps;
  };
  std::vector<Branch> branches;
};
struct Quiet {
  std::optional<Expression> time{};    ///< empty: the quiet time of the target
  std::vector<FramePattern> except{};  ///< may come all the same
};
struct Probe {
  std::string on = kDefaultQp;
};
/// A verb. Those from `accept` on are of the communication manager.
struct Verb {
  enum class Kind : std::uint8_t {
    post_send,
    post_receive,
    bind,
    modify,
    reconnect,
    arm,
    deregister,
    destroy,
    create,
    attach,
    detach,
    accept,
    reject,
    delay,
    connect,
    disconnect
  };
  Kind kind{};
  std::string on = kDefaultQp;  ///< the QP, the region, the window or the SRQ; of `create` the object of the setup
  std::vector<Setting> arguments{};
};
struct AwaitCompletion {
  std::string on = kDefaultQp;
  bool is_receive = false;
  std::vector<FieldPattern> fields{};
};
struct NoCompletion {
  std::string on = kDefaultQp;
  bool of_send = true;
  bool of_receive = true;
};
struct AwaitEvent {
  Expression type;
};
struct NoEvent {};
/// Takes the next event of the device's communication manager.
struct AwaitCmEvent {
  std::vector<FieldPattern> fields{};  ///< `kind`, `reason`, `private_data`; empty: there is no event
};
struct AwaitState {
  std::string on = kDefaultQp;
  Expression state;
};
/// Compares the device's memory with what it has to hold. All that no such step names must not change.
struct CheckMemory {
  std::optional<Expression> at{};      ///< an address; empty: everything is as the steps before said
  std::optional<Expression> is{};      ///< hex digits, or a list of them; empty: anything of `length` bytes
  std::optional<Expression> length{};  ///< bytes, without `is`
};
/// Compares counters with what they were at the beginning of the case.
struct CheckCounters {
  std::vector<FieldPattern> grown_by{};
};
/// Gives names to values. With `by`, the value chosen is the one whose name `by` evaluates to, or `else`. `record` does
/// the same, and the report has the values.
struct Assign {
  struct Assignment {
    Place place;
    std::string name;
    std::optional<Expression> by{};
    std::vector<Setting> values{};
  };
  std::vector<Assignment> assignments{};
  bool is_reported = false;
};
struct Check {
  Expression condition;
};
struct Repeat {
  Expression times;
  std::vector<Step> steps;
};
struct ForEach {
  std::string name{};
  std::vector<Choice> values{};
  std::vector<Step> steps;
};
struct Wait {
  Expression time;
};

using Action = std::variant<Inject, ExpectFrame, ExpectInAnyOrder, ExpectOneOf, Quiet, Probe, Verb, AwaitCompletion,
                            NoCompletion, AwaitEvent, NoEvent, AwaitCmEvent, AwaitState, CheckMemory, CheckCounters,
                            Assign, Check, Repeat, ForEach, Wait>;

/// A step: an action, and when it has to happen.
struct Step {
  Place place;
  std::string verb{};
  Action action;
  std::optional<Expression> within{};  ///< the latest time, counted from `since`
  std::optional<Expression> after{};   ///< the earliest time, counted from `since`
  std::string since{};                 ///< a label; empty: the step before
  std::string label{};
  std::vector<Setting> save{};  ///< names that get the values of fields of the frame
  bool is_refused = false;      ///< the verb has to be refused
};

/// The weight of a case: whether a deviation fails a run, is reported, or is only measured.
enum class Level : std::uint8_t { must, should, info };
/// Returns `must`, `should` or `info`.
[[nodiscard]] std::string_view to_string(Level level);

/// One value of a parameter. `$name` is the value, `$name.member` a member of a map.
struct ParameterValue {
  std::string text{};  ///< as in the name of an instance
  Value value{};
  std::vector<std::pair<std::string, Value>> members{};
};

struct Parameter {
  std::string name{};
  std::vector<ParameterValue> values{};
};

/// An object of the device that a case needs.
struct ObjectSpec {
  enum class Kind : std::uint8_t { qp, mr, mw, srq, listener };
  Place place;
  std::string name{};
  Kind kind{};
  std::vector<Setting> attributes{};
};

/// Returns the group of the case of this name.
[[nodiscard]] inline std::string group_of(const std::string& id) {
  return id.substr(0, id.find('-'));
}

/// A conformance case: one rule, and the steps that show whether a device keeps it.
struct Case {
  Place place;
  std::string id{};
  std::string title{};
  std::vector<std::string> rules{};
  Level level = Level::must;
  std::vector<std::string> needs{};
  std::vector<Parameter> parameters{};
  std::string serial{};              ///< why it runs alone on a device that others share; empty: it need not
  std::optional<Expression> when{};  ///< combinations of parameters for which it is false do not exist
  std::vector<ObjectSpec> setup{};
  std::vector<Step> steps{};
  std::vector<std::string> mutants{};  ///< faults of the endpoint that have to make it fail
  std::string why{};

  /// Returns the group, which is the folder: `nak`.
  [[nodiscard]] std::string group() const { return group_of(id); }
  /// True if a step compares counters, which other cases that run at the same time move too.
  [[nodiscard]] bool reads_counters() const;
  /// True if no other instance may run on the device meanwhile.
  [[nodiscard]] bool runs_alone() const;
  /// True if it asks the communication manager: all that do share QP1 of a device, and its services.
  [[nodiscard]] bool asks_qp1() const;
};

}  // namespace roce::conform
