// SPDX-License-Identifier: BSD-2-Clause
#include "roce/json_input/json_input.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace roce::json_input {

namespace {

/// Builds a value from the events of the library's parser, and stops the parser before the value becomes too large. Its
/// only stack is that of the containers that are open.
template <typename Json>
class Builder final : public nlohmann::json_sax<Json> {
 public:
  using typename nlohmann::json_sax<Json>::number_integer_t;
  using typename nlohmann::json_sax<Json>::number_unsigned_t;
  using typename nlohmann::json_sax<Json>::number_float_t;
  using typename nlohmann::json_sax<Json>::string_t;
  using typename nlohmann::json_sax<Json>::binary_t;

  explicit Builder(const Bounds& bounds) : bounds_(bounds) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return stop("expected text, found binary data"); }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Json& object = *open_.back();
    if (object.size() >= bounds_.members) {
      return stop(fmt::format("expected an object of at most {} members, found more", bounds_.members));
    }
    const auto [place, is_new] = object.emplace(name, nullptr);
    if (!is_new)
      return stop(fmt::format("expected each member of an object once, found \"{}\" again", shown_text(name)));
    member_ = &*place;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    byte_ = byte;
    // The library's message may quote megabytes of the text.
    constexpr int kNumberOverflow = 406;
    problem_ = error.id == kNumberOverflow ? "expected a number that a double can hold"
                                           : "expected JSON, found something else";
    return false;
  }

  [[nodiscard]] Json take() { return std::move(root_); }
  [[nodiscard]] Problem problem() const { return {byte_, problem_}; }

 private:
  /// Puts a value in its place and returns the place; nullptr if there are too many values.
  Json* put(Json value) {
    if (values_ == bounds_.values) {
      (void)stop(fmt::format("expected at most {} values, found more", bounds_.values));
      return nullptr;
    }
    ++values_;
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *member_ = std::move(value);
    return member_;
  }
  bool add(Json value) { return put(std::move(value)) != nullptr; }
  bool open(Json container) {
    if (open_.size() == bounds_.depth) {
      return stop(fmt::format("expected lists and objects at most {} deep, found deeper ones", bounds_.depth));
    }
    Json* const place = put(std::move(container));
    if (place == nullptr) return false;
    // The containers around it do not move while it is open.
    open_.push_back(place);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  Bounds bounds_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // member of the innermost object that waits for its value
  std::size_t values_ = 0;
  std::size_t byte_ = 0;
  std::string problem_;
};

}  // namespace

template <typename Json>
tl::expected<Json, Problem> parse(std::string_view text, const Bounds& bounds, Comments comments) {
  if (text.size() > bounds.bytes) {
    return tl::unexpected(Problem{0, fmt::format("expected at most {} bytes, found {}", bounds.bytes, text.size())});
  }
  Builder<Json> builder{bounds};
  const bool is_whole =
      Json::sax_parse(text, &builder, nlohmann::detail::input_format_t::json, true, comments == Comments::ignored);
  if (!is_whole) return tl::unexpected(builder.problem());
  return builder.take();
}

template tl::expected<nlohmann::json, Problem> parse(std::string_view, const Bounds&, Comments);
template tl::expected<nlohmann::ordered_json, Problem> parse(std::string_view, const Bounds&, Comments);

std::string shown_value(const nlohmann::json& value, std::size_t longest) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  if (value.is_string()) return fmt::format("\"{}\"", shown_text(value.get_ref<const std::string&>(), longest));
  return value.dump();
}

std::string shown_text(std::string_view text, std::size_t longest) {
  std::string result;
  for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '.';
  if (text.size() > longest) result += "…";
  return result;
}

}  // namespace roce::json_input
