// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conform/language/value.h"

namespace roce::conform {

/// The names that expressions may use: parameters, objects, PSNs of the model, what steps have set or saved.
class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  virtual ~Scope() = default;

  /// Returns the value of `$name`; empty if there is none. A name may have members: `R.va`.
  [[nodiscard]] virtual std::optional<Value> find(std::string_view name) const = 0;
};

/// A scope for expressions that have nothing to refer to.
class NoNames final : public Scope {
 public:
  [[nodiscard]] std::optional<Value> find(std::string_view /*name*/) const override { return std::nullopt; }
};

/// An expression over integers and words, read once and evaluated for each instance of a case.
///
/// `$name` is a value of the scope, a bare name is a word. Numbers are decimal or 0x…, and times have a unit (`20ms`)
/// and are nanoseconds. Operators, weakest first: or, and, not, comparisons, |, ^, &, << >>, + -, * / %. Functions:
/// psn(x), ack_timeout(code), rnr_wait(code), pause_time(quanta), packets(bytes), bytes(seed, length),
/// if(condition, a, b), min, max, part.
class Expression {
 public:
  /// Makes an expression that is the word or number `text` itself.
  [[nodiscard]] static Expression literal(std::string_view text);
  /// Makes an expression whose value is the list of the values of others.
  [[nodiscard]] static Expression list(std::vector<Expression> items);
  /// Reads a value of a field: an expression if `$` or `(` occurs in it, else the text itself.
  [[nodiscard]] static Evaluated<Expression> read_scalar(std::string_view text);
  /// Reads a condition, a number or a time, where a bare text is an expression too.
  [[nodiscard]] static Evaluated<Expression> read(std::string_view text);

  [[nodiscard]] Evaluated<Value> evaluate(const Scope& scope) const;
  /// Returns the number; error: the value is not a number.
  [[nodiscard]] Evaluated<std::uint64_t> number(const Scope& scope) const;
  /// Returns the text as it stands in the file.
  [[nodiscard]] const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace roce::conform
