// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/value.h"

#include "command_line/number_text.h"

namespace roce::conform {

Value Value::of_scalar(std::string_view text) {
  if (const auto number = command_line::read_number<std::uint64_t>(text)) {
    return {.content = *number, .spelling = std::string{text}};
  }
  return word(std::string{text});
}

bool Value::is_true() const {
  if (const std::uint64_t* number = as_number()) return *number != 0;
  const std::string* word = as_word();
  return word != nullptr && *word == "true";
}

bool operator==(const Value& a, const Value& b) {
  if (a.as_number() != nullptr && b.as_number() != nullptr) return *a.as_number() == *b.as_number();
  return to_string(a) == to_string(b);
}

std::string to_string(const Value& value) {
  if (!value.spelling.empty()) return value.spelling;
  if (const std::uint64_t* number = value.as_number()) return std::to_string(*number);
  if (const std::string* word = value.as_word()) return *word;
  std::string text = "[";
  for (const Value& item : *value.as_list()) text += (text.size() > 1 ? ", " : "") + to_string(item);
  return text + "]";
}

std::string bytes_text(const Value& value) {
  const Value::List* list = value.as_list();
  if (list == nullptr) return to_string(value);
  std::string text;
  for (const Value& item : *list) text += bytes_text(item);
  return text;
}

}  // namespace roce::conform
