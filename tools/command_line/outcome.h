// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace roce {

/// The exit codes of the programs.
enum class ExitCode : int {
  ok = 0,      ///< everything asked for was done, and what came back was right
  failed = 1,  ///< the work was begun and failed, or a file could not be read
  usage = 2,   ///< wrong command line, or an environment in which the program cannot run
};

/// The reason why a command ends: a sentence for people and the exit code.
struct Failure {
  ExitCode code = ExitCode::failed;
  std::string message;

  Failure() = default;
  Failure(ExitCode why, std::string text) : code(why), message(std::move(text)) {}
  /// Takes an error of libroce's live part (live::Error): what did not begin was refused by the environment.
  template <typename Error>
    requires requires(const Error& error) {
      { error.message } -> std::convertible_to<std::string>;
      { error.has_begun } -> std::convertible_to<bool>;
    }
  Failure(const Error& error)  // NOLINT(google-explicit-constructor): so that both are returned alike
      : code(error.has_begun ? ExitCode::failed : ExitCode::usage), message(error.message) {}
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

/// Returns the failure of a command that the environment or the command line does not allow.
[[nodiscard]] inline tl::unexpected<Failure> cannot(std::string message) {
  return tl::unexpected(Failure{ExitCode::usage, std::move(message)});
}
/// Returns the failure of a command that was begun.
[[nodiscard]] inline tl::unexpected<Failure> failed(std::string message) {
  return tl::unexpected(Failure{ExitCode::failed, std::move(message)});
}

/// Returns the result of a call whose error `to_string` explains; a failure says `cannot WHAT: …`.
template <typename T, typename Error>
[[nodiscard]] Outcome<T> expect(tl::expected<T, Error> result, std::string_view what) {
  if (!result) return failed("cannot " + std::string{what} + ": " + to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
  return {};
}

/// Returns the outcome of something that gives no value, as `Failure` takes its error.
template <typename Error>
[[nodiscard]] Outcome<void> outcome_of(const tl::expected<void, Error>& result) {
  if (result) return {};
  return tl::unexpected(Failure{result.error()});
}

}  // namespace roce
