// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "command_line/number_text.h"
#include "conform/language/functions.h"

namespace roce::conform {

struct Expression::Node {
  enum class Kind : std::uint8_t { constant, list, name, negation, operation, call };

  Kind kind = Kind::constant;
  Value constant{};
  std::string name{};  ///< of a value, an operator or a function
  std::vector<std::shared_ptr<const Node>> operands{};
};

namespace {

using Node = Expression::Node;
using NodePointer = std::shared_ptr<const Node>;

// Deeper ones would be a mistake; the bound keeps reading and evaluating from exhausting the stack.
constexpr int kMostNesting = 64;

NodePointer make_node(Node node) {
  return std::make_shared<const Node>(std::move(node));
}

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Reads an expression by recursive descent, one function call for each level of precedence.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] Evaluated<NodePointer> read_all() {
    Evaluated<NodePointer> node = read_level(0);
    if (!node) return node;
    skip_blanks();
    if (!rest_.empty()) return tl::unexpected(fmt::format("expected an operator, found '{}'", rest_));
    return node;
  }

 private:
  using Level = std::array<std::string_view, 6>;
  // `<<` before `<`, so that the longer one is found.
  static constexpr std::array<Level, 8> kLevels{
      Level{"or"},       Level{"and"},   Level{"==", "!=", "<=", ">=", "<", ">"}, Level{"|"}, Level{"^"}, Level{"&"},
      Level{"<<", ">>"}, Level{"+", "-"}};

  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  [[nodiscard]] std::optional<std::string_view> take_operator(const Level& level) {
    skip_blanks();
    for (const std::string_view name : level) {
      if (name.empty() || !rest_.starts_with(name)) continue;
      const char after = rest_.size() > name.size() ? rest_[name.size()] : ' ';
      if (is_name_start(name.front()) && is_name_part(after)) continue;
      // `a < b` must not take the first half of `a << b`.
      if ((name == "<" || name == ">") && after == name.front()) continue;
      rest_.remove_prefix(name.size());
      return name;
    }
    return std::nullopt;
  }

  [[nodiscard]] Evaluated<NodePointer> read_level(std::size_t level) {
    if (level == kLevels.size()) return read_product();
    return read_left_to_right(kLevels.at(level), [this, level] { return read_level(level + 1); });
  }

  [[nodiscard]] Evaluated<NodePointer> read_product() {
    return read_left_to_right(Level{"*", "/", "%"}, [this] { return read_operand(); });
  }

  template <typename ReadOperand>
  [[nodiscard]] Evaluated<NodePointer> read_left_to_right(const Level& operators, ReadOperand read_one) {
    Evaluated<NodePointer> left = read_one();
    while (left) {
      const std::optional<std::string_view> name = take_operator(operators);
      if (!name) break;
      Evaluated<NodePointer> right = read_one();
      if (!right) return right;
      left = make_node({.kind = Node::Kind::operation, .name = std::string{*name}, .operands = {*left, *right}});
    }
    return left;
  }

  [[nodiscard]] Evaluated<NodePointer> read_operand() {
    if (++nesting_ > kMostNesting) return tl::unexpected(fmt::format("more than {} levels", kMostNesting));
    Evaluated<NodePointer> node = read_operand_inside();
    --nesting_;
    return node;
  }

  [[nodiscard]] Evaluated<NodePointer> read_operand_inside() {
    skip_blanks();
    if (rest_.empty()) return tl::unexpected(std::string{"expected a value at the end"});
    if (take_operator(Level{"not"})) {
      Evaluated<NodePointer> operand = read_level(2);
      if (!operand) return operand;
      return make_node({.kind = Node::Kind::negation, .operands = {*operand}});
    }
    if (rest_.front() == '(') {
      rest_.remove_prefix(1);
      Evaluated<NodePointer> inside = read_level(0);
      if (!inside) return inside;
      if (const auto closed = take(')'); !closed) return tl::unexpected(closed.error());
      return inside;
    }
    if (rest_.front() == '$') {
      rest_.remove_prefix(1);
      const std::string name = take_name();
      if (name.empty()) return tl::unexpected(std::string{"expected a name after '$'"});
      return make_node({.kind = Node::Kind::name, .name = name});
    }
    if (std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) return read_number();
    if (is_name_start(rest_.front())) return read_word_or_call();
    return tl::unexpected(fmt::format("expected a value, found '{}'", rest_));
  }

  [[nodiscard]] Evaluated<void> take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) {
      return tl::unexpected(fmt::format("expected '{}', found '{}'", wanted, rest_));
    }
    rest_.remove_prefix(1);
    return {};
  }

  std::string take_name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_part);
    std::string name{rest_.begin(), end};
    rest_.remove_prefix(name.size());
    return name;
  }

  [[nodiscard]] Evaluated<NodePointer> read_number() {
    const std::string text = take_name();
    if (const auto number = command_line::read_number<std::uint64_t>(text)) {
      return make_node({.constant = Value::number(*number)});
    }
    if (const std::optional<std::uint64_t> time = read_time(text)) return make_node({.constant = Value::number(*time)});
    return tl::unexpected(fmt::format("expected a number or a time such as 20ms, found '{}'", text));
  }

  [[nodiscard]] Evaluated<NodePointer> read_word_or_call() {
    const std::string name = take_name();
    if (rest_.empty() || rest_.front() != '(') return make_node({.constant = Value::word(name)});
    rest_.remove_prefix(1);
    Node call{.kind = Node::Kind::call, .name = name};
    for (skip_blanks(); call.operands.empty() || rest_.starts_with(','); skip_blanks()) {
      if (!call.operands.empty()) rest_.remove_prefix(1);
      Evaluated<NodePointer> argument = read_level(0);
      if (!argument) return argument;
      call.operands.push_back(*argument);
    }
    if (const auto closed = take(')'); !closed) return tl::unexpected(closed.error());
    if (const auto known = check_call(name, call.operands.size()); !known) return tl::unexpected(known.error());
    return make_node(std::move(call));
  }

  std::string_view rest_;
  int nesting_ = 0;
};

Evaluated<Value> evaluate_node(const Node& node, const Scope& scope);

Evaluated<Value> evaluate_operation(const Node& node, const Scope& scope) {
  Evaluated<Value> left = evaluate_node(*node.operands[0], scope);
  if (!left) return left;
  // The right side of `and` and `or` may only make sense if the left one does not decide.
  if (node.name == "and" && !left->is_true()) return Value::number(0);
  if (node.name == "or" && left->is_true()) return Value::number(1);
  Evaluated<Value> right = evaluate_node(*node.operands[1], scope);
  if (!right) return right;
  return apply_operator(node.name, *left, *right);
}

Evaluated<Value::List> evaluate_all(const std::vector<NodePointer>& nodes, const Scope& scope) {
  Value::List values;
  for (const NodePointer& node : nodes) {
    Evaluated<Value> value = evaluate_node(*node, scope);
    if (!value) return tl::unexpected(value.error());
    values.push_back(std::move(*value));
  }
  return values;
}

Evaluated<Value> evaluate_node(const Node& node, const Scope& scope) {
  switch (node.kind) {
    case Node::Kind::constant:
      return node.constant;
    case Node::Kind::name:
      if (std::optional<Value> value = scope.find(node.name)) return std::move(*value);
      return tl::unexpected(fmt::format("there is no value ${}", node.name));
    case Node::Kind::negation: {
      Evaluated<Value> operand = evaluate_node(*node.operands[0], scope);
      if (!operand) return operand;
      return Value::number(operand->is_true() ? 0 : 1);
    }
    case Node::Kind::operation:
      return evaluate_operation(node, scope);
    case Node::Kind::list:
    case Node::Kind::call: {
      Evaluated<Value::List> values = evaluate_all(node.operands, scope);
      if (!values) return tl::unexpected(values.error());
      if (node.kind == Node::Kind::call) return apply_function(node.name, *values, scope);
      return Value{.content = std::move(*values)};
    }
  }
  return tl::unexpected(std::string{"unknown expression"});
}

}  // namespace

Expression Expression::literal(std::string_view text) {
  Expression expression;
  expression.text_ = text;
  expression.root_ = make_node({.constant = Value::of_scalar(text)});
  return expression;
}

Expression Expression::list(std::vector<Expression> items) {
  Expression expression;
  Node node{.kind = Node::Kind::list};
  for (Expression& item : items) {
    expression.text_ += (expression.text_.empty() ? "[" : ", ") + item.text_;
    node.operands.push_back(std::move(item.root_));
  }
  expression.text_ += ']';
  expression.root_ = make_node(std::move(node));
  return expression;
}

Evaluated<Expression> Expression::read_scalar(std::string_view text) {
  if (text.find_first_of("$(") == std::string_view::npos) return literal(text);
  return read(text);
}

Evaluated<Expression> Expression::read(std::string_view text) {
  Evaluated<NodePointer> root = Reader{text}.read_all();
  if (!root) return tl::unexpected(fmt::format("'{}': {}", text, root.error()));
  Expression expression;
  expression.text_ = text;
  expression.root_ = std::move(*root);
  return expression;
}

Evaluated<Value> Expression::evaluate(const Scope& scope) const {
  Evaluated<Value> value = evaluate_node(*root_, scope);
  if (!value) return tl::unexpected(fmt::format("'{}': {}", text_, value.error()));
  return value;
}

Evaluated<std::uint64_t> Expression::number(const Scope& scope) const {
  const Evaluated<Value> value = evaluate(scope);
  if (!value) return tl::unexpected(value.error());
  if (const std::uint64_t* number = value->as_number()) return *number;
  return tl::unexpected(fmt::format("'{}' is {}, expected a number", text_, to_string(*value)));
}

}  // namespace roce::conform
