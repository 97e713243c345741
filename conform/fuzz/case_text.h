// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "conform/fuzz/program_run.h"
#include "roce/wire/opcode.h"
#include "roce/wire/types.h"

namespace roce::conform::fuzz {

/// The text of a case file while it is written.
class CaseText {
 public:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }
  /// Adds a step at the present indentation.
  void add_step(std::string_view step) { add("{}- {}\n", indent_, step); }
  /// Adds a member to the last step.
  void add_member(std::string_view member) { add("{}  {}\n", indent_, member); }
  /// Steps are inside of the last one until `end_inner`.
  void begin_inner() { indent_ += "      "; }
  void end_inner() { indent_.resize(indent_.size() - 6); }
  [[nodiscard]] const std::string& indent() const { return indent_; }

  /// Adds to a way of a choice that the steps of `begin_rest` are not for a device that took it.
  void add_stop() { add_step("set: {goes_on: 0}"); }
  /// Begins steps that are only for a device that took no way with `add_stop`, and ends those that it began before.
  void begin_rest();
  void end_rest();

  /// Adds comment, name, title, rules, level and needs.
  void add_head(const ProgramResult& failed);
  /// Adds the QP, with these further attributes, one for requests of another version of RoCE, and all regions.
  void add_setup(const ProgramResult& failed, std::string_view attributes);
  /// Returns the name of the window of a QP's life; the first one is that before any RESET.
  [[nodiscard]] static std::string window_name(unsigned life) { return fmt::format("window{}", life); }
  /// Adds the begin of the steps: memory is as it is for each program, another content at each place.
  void begin_steps(const ProgramResult& failed);

  /// Adds a READ on another QP than that of the program, or a counter, if it is about that.
  void add_end(const ProgramResult& failed);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  /// Writes other bytes to each place of a region.
  void add_fill(std::string_view region, std::uint32_t size);

  std::string text_;
  std::string indent_ = "  ";
  bool is_rest_ = false;
};

[[nodiscard]] std::string hex_digits(Bytes bytes);
/// Returns the name of an opcode as cases write it for an RC QP.
[[nodiscard]] std::string_view short_name(Opcode opcode);

/// Returns the case of a finding about the device's requester; see `case_text` of finding_case.h.
[[nodiscard]] std::string requester_case_text(const ProgramResult& failed);
/// Returns the case of a finding about the device's communication manager; see `case_text` of finding_case.h.
[[nodiscard]] std::string manager_case_text(const ProgramResult& failed);

}  // namespace roce::conform::fuzz
