// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/display_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "analyze/filter/filter_constant.h"

namespace roce::analyze {

namespace {

using Kind = FilterTokenKind;

template <typename T>
using Parsed = tl::expected<T, FilterError>;

/// A value, or a range of values that includes both ends.
struct Range {
  FilterConstant low;
  std::optional<FilterConstant> high;
};

enum class Relation : std::uint8_t { exists, equal, not_equal, less, less_equal, greater, greater_equal, contains };

/// One field and what it is compared with.
struct Comparison {
  FieldId field = 0;
  Relation relation = Relation::exists;
  std::vector<Range> ranges;
};

struct Node {
  enum class Kind : std::uint8_t { comparison, all, any, negation };
  Kind kind = Kind::comparison;
  Comparison comparison;
  std::vector<Node> parts;
};

bool is_in(const FilterValue& value, const Range& range) {
  const std::partial_ordering low = compare(value, range.low);
  return range.high ? std::is_gteq(low) && std::is_lteq(compare(value, *range.high)) : std::is_eq(low);
}

bool holds(const FilterValue& value, const Comparison& comparison) {
  const auto& ranges = comparison.ranges;
  switch (comparison.relation) {
    case Relation::exists: {
      const bool* truth = std::get_if<bool>(&value);
      return truth == nullptr || *truth;
    }
    case Relation::equal:
    case Relation::not_equal:
      return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return is_in(value, range); });
    case Relation::less:
      return std::is_lt(compare(value, ranges.front().low));
    case Relation::less_equal:
      return std::is_lteq(compare(value, ranges.front().low));
    case Relation::greater:
      return std::is_gt(compare(value, ranges.front().low));
    case Relation::greater_equal:
      return std::is_gteq(compare(value, ranges.front().low));
    case Relation::contains: {
      const auto* text = std::get_if<std::string_view>(&value);
      const auto* part = std::get_if<std::string>(&ranges.front().low);
      return text != nullptr && part != nullptr && text->find(*part) != std::string_view::npos;
    }
  }
  return false;
}

bool holds(const Comparison& comparison, const FieldValues& values) {
  std::size_t count = 0;
  for (; const std::optional<FilterValue> value = values.value(comparison.field, count); ++count) {
    if (holds(*value, comparison)) return comparison.relation != Relation::not_equal;
  }
  return comparison.relation == Relation::not_equal && count != 0;
}

bool evaluate(const Node& node, const FieldValues& values) {
  const auto part_holds = [&](const Node& part) { return evaluate(part, values); };
  switch (node.kind) {
    case Node::Kind::comparison:
      return holds(node.comparison, values);
    case Node::Kind::all:
      return std::all_of(node.parts.begin(), node.parts.end(), part_holds);
    case Node::Kind::any:
      return std::any_of(node.parts.begin(), node.parts.end(), part_holds);
    case Node::Kind::negation:
      return !part_holds(node.parts.front());
  }
  return false;
}

std::optional<Relation> relation_of(Kind kind) {
  switch (kind) {
    case Kind::equal:
      return Relation::equal;
    case Kind::not_equal:
      return Relation::not_equal;
    case Kind::less:
      return Relation::less;
    case Kind::less_equal:
      return Relation::less_equal;
    case Kind::greater:
      return Relation::greater;
    case Kind::greater_equal:
      return Relation::greater_equal;
    case Kind::contains:
      return Relation::contains;
    default:
      return std::nullopt;
  }
}

/// A recursive descent parser with one function for each level of precedence.
class Parser {
 public:
  Parser(std::vector<FilterToken> tokens, const FieldCatalogue& catalogue)
      : tokens_(std::move(tokens)), catalogue_(catalogue) {}

  Parsed<Node> parse() {
    Parsed<Node> node = parse_alternatives();
    if (node && token().kind != Kind::end) return fail("'and', 'or' or the end");
    return node;
  }
  [[nodiscard]] std::vector<FieldId> fields() && {
    std::sort(fields_.begin(), fields_.end());
    fields_.erase(std::unique(fields_.begin(), fields_.end()), fields_.end());
    return std::move(fields_);
  }

 private:
  [[nodiscard]] const FilterToken& token() const { return tokens_[next_]; }
  bool take(Kind kind) {
    if (token().kind != kind) return false;
    ++next_;
    return true;
  }
  [[nodiscard]] tl::unexpected<FilterError> fail(std::string expected) const {
    return tl::unexpected(FilterError{token().column, std::move(expected), std::string{token().source}, {}});
  }

  Parsed<Node> parse_alternatives() {
    return parse_list(Kind::logical_or, Node::Kind::any, [this] {
      return parse_list(Kind::logical_and, Node::Kind::all, [this] { return parse_factor(); });
    });
  }

  template <typename ParsePart>
  Parsed<Node> parse_list(Kind separator, Node::Kind kind, ParsePart parse_part) {
    Parsed<Node> first = parse_part();
    if (!first || token().kind != separator) return first;
    Node list{kind, {}, {}};
    list.parts.push_back(*std::move(first));
    while (take(separator)) {
      Parsed<Node> part = parse_part();
      if (!part) return part;
      list.parts.push_back(*std::move(part));
    }
    return list;
  }

  Parsed<Node> parse_factor() {
    // The depth is bounded because both the parser and the evaluation are recursive.
    constexpr unsigned kDeepest = 200;
    if (depth_ == kDeepest) return fail(fmt::format("at most {} brackets and negations inside each other", kDeepest));
    ++depth_;
    Parsed<Node> node = parse_nested();
    --depth_;
    return node;
  }

  Parsed<Node> parse_nested() {
    if (take(Kind::logical_not)) return negated(parse_factor());
    if (take(Kind::open)) {
      Parsed<Node> node = parse_alternatives();
      if (node && !take(Kind::close)) return fail("a closing bracket, 'and' or 'or'");
      return node;
    }
    return parse_comparison();
  }

  static Parsed<Node> negated(Parsed<Node> node) {
    if (!node) return node;
    Node negation{Node::Kind::negation, {}, {}};
    negation.parts.push_back(*std::move(node));
    return negation;
  }

  Parsed<Node> parse_comparison() {
    if (token().kind != Kind::word) return fail("a field name");
    const std::optional<FieldId> id = catalogue_.find(token().value);
    if (!id) {
      return tl::unexpected(
          FilterError{token().column, "a field name", std::string{token().source}, catalogue_.nearest(token().value)});
    }
    ++next_;
    fields_.push_back(*id);
    const FilterField& field = catalogue_[*id];
    if (take(Kind::in)) return parse_set(*id, field);
    if (token().kind == Kind::logical_not && tokens_[next_ + 1].kind == Kind::in) {
      next_ += 2;
      return negated(parse_set(*id, field));
    }
    const std::optional<Relation> relation = relation_of(token().kind);
    if (!relation) return Node{Node::Kind::comparison, {*id, Relation::exists, {}}, {}};
    const bool ordered = *relation != Relation::equal && *relation != Relation::not_equal;
    if (field.type == FieldType::presence) return fail(fmt::format("nothing behind {}, which is a header", field.name));
    if (*relation == Relation::contains) return parse_contains(*id, field);
    if (ordered && !has_order(field.type)) {
      return fail(fmt::format("==, != or in, since values of {} have no order", field.name));
    }
    ++next_;
    Parsed<FilterConstant> value = parse_value(field);
    if (!value) return tl::unexpected(std::move(value.error()));
    return Node{Node::Kind::comparison, {*id, *relation, {{*std::move(value), std::nullopt}}}, {}};
  }

  Parsed<Node> parse_contains(FieldId id, const FilterField& field) {
    const bool named = field.type == FieldType::number && !field.value_names.empty();
    if (!named && field.type != FieldType::bytes && field.type != FieldType::text) {
      return fail(fmt::format("a comparison, since {} is neither a text nor a number with names", field.name));
    }
    ++next_;
    Comparison comparison{id, Relation::contains, {}};
    if (!named) {
      Parsed<FilterConstant> part = parse_value(field);
      if (!part) return tl::unexpected(std::move(part.error()));
      comparison.ranges.push_back({*std::move(part), std::nullopt});
      return Node{Node::Kind::comparison, std::move(comparison), {}};
    }
    comparison.relation = Relation::equal;
    const bool is_value = token().kind == Kind::word || token().kind == Kind::text;
    if (is_value) {
      for (const std::uint64_t value : values_named_like(field, token().value)) {
        comparison.ranges.push_back({value, std::nullopt});
      }
    }
    if (comparison.ranges.empty()) return fail(fmt::format("a part of a name of {}", field.name));
    ++next_;
    return Node{Node::Kind::comparison, std::move(comparison), {}};
  }

  Parsed<Node> parse_set(FieldId id, const FilterField& field) {
    if (!take(Kind::open_set)) return fail("a set of values such as {1, 5..9}");
    Comparison comparison{id, Relation::equal, {}};
    do {
      const std::string_view low_text = token().source;
      Parsed<FilterConstant> low = parse_value(field);
      if (!low) return tl::unexpected(std::move(low.error()));
      Range range{*std::move(low), std::nullopt};
      if (token().kind == Kind::range) {
        if (!has_order(field.type))
          return fail(fmt::format("a comma or }}, since values of {} have no order", field.name));
        ++next_;
        const FilterToken& at = token();
        Parsed<FilterConstant> high = parse_value(field);
        if (!high) return tl::unexpected(std::move(high.error()));
        if (is_descending(range.low, *high)) {
          return tl::unexpected(FilterError{
              at.column, fmt::format("a value that is not below {}", low_text), std::string{at.source}, {}});
        }
        range.high = *std::move(high);
      }
      comparison.ranges.push_back(std::move(range));
    } while (take(Kind::comma));
    if (!take(Kind::close_set)) return fail("a comma or }");
    return Node{Node::Kind::comparison, std::move(comparison), {}};
  }

  Parsed<FilterConstant> parse_value(const FilterField& field) {
    Parsed<FilterConstant> value = parse_constant(field, token());
    if (value) ++next_;
    return value;
  }

  std::vector<FilterToken> tokens_;
  const FieldCatalogue& catalogue_;
  std::vector<FieldId> fields_;
  std::size_t next_ = 0;
  unsigned depth_ = 0;
};

}  // namespace

struct DisplayFilter::Program {
  Node root;
  std::vector<FieldId> fields;
};

tl::expected<DisplayFilter, FilterError> DisplayFilter::compile(std::string_view expression,
                                                                const FieldCatalogue& catalogue) {
  auto tokens = tokenize_filter(expression);
  if (!tokens) return tl::unexpected(std::move(tokens.error()));
  if (tokens->front().kind == Kind::end) return DisplayFilter{};
  Parser parser{*std::move(tokens), catalogue};
  Parsed<Node> root = parser.parse();
  if (!root) return tl::unexpected(std::move(root.error()));
  return DisplayFilter{std::make_shared<const Program>(Program{*std::move(root), std::move(parser).fields()})};
}

bool DisplayFilter::matches(const FieldValues& values) const {
  return !program_ || evaluate(program_->root, values);
}

std::span<const FieldId> DisplayFilter::fields() const {
  return program_ ? std::span<const FieldId>{program_->fields} : std::span<const FieldId>{};
}

}  // namespace roce::analyze
