// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/field_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "conform/run/frame_maker.h"
#include "roce/wire/fields.h"

namespace roce::conform {

namespace {

/// True if two values are the same, a word in upper or lower case.
bool are_equal(const Value& wanted, const Value& seen) {
  if (const Value::List* list = wanted.as_list()) {
    return std::ranges::any_of(*list, [&](const Value& one) { return are_equal(one, seen); });
  }
  return wanted == seen;
}

Evaluated<bool> is_in(const Choice& choice, const Value& seen, const Scope& scope) {
  const Evaluated<Value> first = choice.first.evaluate(scope);
  if (!first) return tl::unexpected(first.error());
  if (!choice.last) return are_equal(*first, seen);
  const Evaluated<std::uint64_t> last = choice.last->number(scope);
  if (!last) return tl::unexpected(last.error());
  if (first->as_number() == nullptr) return tl::unexpected(std::string{"a range begins with a number"});
  const std::uint64_t* number = seen.as_number();
  if (number == nullptr) return false;
  // A range of PSNs may go through 0.
  constexpr std::uint64_t mask = 0xFF'FFFF;
  if (first->is_psn) return ((*number - *first->as_number()) & mask) <= ((*last - *first->as_number()) & mask);
  return *number >= *first->as_number() && *number <= *last;
}

std::string value_text(const Expression& expression, const Scope& scope) {
  const Evaluated<Value> value = expression.evaluate(scope);
  return value ? to_string(*value) : expression.text();
}

Comparison compare_opcode(const Value& wanted, transport::QpType type, const Packet& packet) {
  const Value::List one{wanted};
  const Value::List* list = wanted.as_list();
  const Value::List& names = list != nullptr ? *list : one;
  const bool is_right = std::ranges::any_of(names, [&](const Value& name) {
    if (const auto message = cm_message(to_string(name))) return packet.find(*message).has_value();
    return opcode_for(to_string(name), type) == packet.opcode();
  });
  const std::string seen = frame_name(packet);
  return {"opcode", to_string(wanted),
          seen.empty() ? fmt::format("{:#04x}", static_cast<unsigned>(packet.opcode())) : seen, is_right};
}

}  // namespace

Evaluated<bool> allows(const FieldPattern& field, const Value& seen, const Scope& scope) {
  if (field.choices.empty()) return true;
  for (const Choice& choice : field.choices) {
    Evaluated<bool> fits = is_in(choice, seen, scope);
    if (!fits) return fits;
    if (*fits) return !field.is_negated;
  }
  return field.is_negated;
}

std::string wanted_text(const FieldPattern& field, const Scope& scope) {
  if (field.choices.empty()) return "any";
  std::string text = field.is_negated ? "not " : "";
  for (const Choice& choice : field.choices) {
    if (&choice != &field.choices.front()) text += " or ";
    text += value_text(choice.first, scope);
    if (choice.last) text += ".." + value_text(*choice.last, scope);
  }
  return text;
}

std::string hex_text(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

std::optional<Value> field_value(const Packet& packet, const std::string& name) {
  if (name == "payload") return Value::word(hex_text(packet.payload()));
  if (name == "payload_length") return Value::number(packet.payload_length());
  if (name == "opcode") return Value::word(std::string{packet.info().name});
  if (name == "network" || name == "network_length") {
    const std::optional<Layer> layer = packet.find(packet.network_header());
    if (!layer) return std::nullopt;
    const Bytes bytes = packet.layer_bytes(*layer);
    return name == "network" ? Value::word(hex_text(bytes)) : Value::number(bytes.size());
  }
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  if (name.starts_with("network.")) return field_value(packet, network_field(packet.version(), name.substr(dot + 1)));
  const HeaderInfo* header = find_header(name.substr(0, dot));
  const FieldInfo* field = header != nullptr ? find_field(*header, name.substr(dot + 1)) : nullptr;
  const std::optional<Layer> layer = field != nullptr ? packet.find(header->id) : std::nullopt;
  if (!layer) return std::nullopt;
  const Bytes bytes = packet.layer_bytes(*layer);
  if (is_octets(*field)) return Value::word(field_text(*field, bytes));
  if (field->format == FieldFormat::boolean) return Value::word(field_text(*field, bytes));
  return Value::number(field_number(*field, bytes));
}

CaseResult<std::vector<Comparison>> compare_frame(const FramePattern& pattern, transport::QpType type,
                                                  const Packet& packet, const Scope& scope) {
  std::vector<Comparison> fields;
  if (pattern.opcode) {
    const Evaluated<Value> opcode = pattern.opcode->evaluate(scope);
    if (!opcode) return tl::unexpected(CaseError{pattern.place, opcode.error()});
    fields.push_back(compare_opcode(*opcode, type, packet));
  }
  for (const FieldPattern& field : pattern.fields) {
    const std::optional<Value> seen = field_value(packet, field.name);
    if (!seen) {
      fields.push_back({field.name, wanted_text(field, scope), "not there", false});
      continue;
    }
    const Evaluated<bool> fits = allows(field, *seen, scope);
    if (!fits) return tl::unexpected(CaseError{field.place, fmt::format("{}: {}", field.name, fits.error())});
    fields.push_back({field.name, wanted_text(field, scope), to_string(*seen), *fits});
  }
  return fields;
}

bool is_right(const std::vector<Comparison>& fields) {
  return std::ranges::all_of(fields, &Comparison::is_right);
}

}  // namespace roce::conform
