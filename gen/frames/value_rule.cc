// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/value_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

namespace roce::gen {

namespace {

constexpr std::string_view kRandom = "rand";
constexpr std::string_view kTo = "..";
constexpr std::uint64_t kMaxLength = 65535;

[[nodiscard]] tl::unexpected<SpecError> error(const std::string& name, const std::string& message) {
  return tl::unexpected(SpecError{name, fmt::format("{}: {}", name, message)});
}

[[nodiscard]] std::optional<std::uint64_t> read_step(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::uint64_t step = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), step, hex ? 16 : 10);
  if (failure != std::errc{} || end != text.data() + text.size() || step == 0) return std::nullopt;
  return negative ? 0 - step : step;
}

/// Converts the values of one name to numbers.
class Numbers {
 public:
  /// Makes it for a field of the table, or for the length of a payload.
  [[nodiscard]] static SpecResult<Numbers> make(const PacketSpec& spec, const std::string& name) {
    Numbers numbers{name};
    if (name == "payload_length") return numbers;
    const SpecResult<SpecField> row = spec.field(name);
    if (!row || row->field == nullptr) {
      return error(name, "only fields that are numbers or addresses, and payload_length, can count or be random");
    }
    numbers.header_ = row->header;
    numbers.field_ = row->field;
    return numbers;
  }

  /// Returns the largest number that the field holds.
  [[nodiscard]] std::uint64_t max() const {
    if (field_ == nullptr) return kMaxLength;
    return field_->bit_width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field_->bit_width) - 1;
  }

  [[nodiscard]] SpecResult<std::uint64_t> read(std::string_view text) {
    std::vector<std::byte> header(field_ != nullptr ? header_->size : 0);
    if (field_ == nullptr) {
      std::uint64_t length = 0;
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
      if (failure == std::errc{} && end == text.data() + text.size() && length <= kMaxLength) return length;
      return error(name_, fmt::format("expected 0 … {}, found '{}'", kMaxLength, text));
    }
    if (const auto set = set_field_text(*field_, header, text); !set) return error(name_, set.error());
    if (!is_octets(*field_)) return field_number(*field_, header);
    const Bytes octets = field_octets(*field_, header);
    const std::size_t low = std::min<std::size_t>(octets.size(), sizeof(std::uint64_t));
    const Bytes high = octets.first(octets.size() - low);
    if (high_ && !std::equal(high.begin(), high.end(), high_->begin(), high_->end())) {
      return error(name_,
                   fmt::format("the ends of a range may differ in their last {} bytes only, found '{}'", low, text));
    }
    high_.emplace(high.begin(), high.end());
    std::uint64_t number = 0;
    for (const std::byte octet : octets.last(low)) number = number << 8 | std::to_integer<std::uint64_t>(octet);
    return number;
  }

  /// Parses `LO..HI`, where LO must not be above HI.
  [[nodiscard]] SpecResult<void> read_range(std::string_view text, ValueRule& rule) {
    const std::size_t dots = text.find(kTo);
    if (dots == std::string_view::npos) return error(name_, fmt::format("expected LO..HI, found '{}'", text));
    rule.start = text.substr(0, dots);
    const SpecResult<std::uint64_t> first = read(rule.start);
    if (!first) return tl::unexpected(first.error());
    const SpecResult<std::uint64_t> last = read(text.substr(dots + kTo.size()));
    if (!last) return tl::unexpected(last.error());
    if (*first > *last) return error(name_, fmt::format("'{}' begins above its end", text));
    rule.first = *first;
    rule.last = *last;
    return {};
  }

 private:
  explicit Numbers(const std::string& name) : name_(name) {}
  std::string name_;
  const HeaderInfo* header_ = nullptr;
  const FieldInfo* field_ = nullptr;  ///< null: the length of the payload
  std::optional<std::vector<std::byte>> high_;
};

[[nodiscard]] SpecResult<ValueRule> read_random(const PacketSpec& spec, const std::string& name,
                                                std::string_view text) {
  SpecResult<Numbers> numbers = Numbers::make(spec, name);
  if (!numbers) return tl::unexpected(numbers.error());
  ValueRule rule;
  rule.kind = ValueRule::Kind::random;
  rule.last = numbers->max();
  if (text == kRandom) return rule;
  if (const SpecResult<void> read = numbers->read_range(text.substr(kRandom.size() + 1), rule); !read) {
    return tl::unexpected(read.error());
  }
  return rule;
}

[[nodiscard]] SpecResult<ValueRule> read_count(const PacketSpec& spec, const std::string& name, std::string_view text) {
  SpecResult<Numbers> numbers = Numbers::make(spec, name);
  if (!numbers) return tl::unexpected(numbers.error());
  ValueRule rule;
  rule.kind = ValueRule::Kind::count;
  const std::size_t plus = text.rfind('+');
  const bool is_down = plus != std::string_view::npos && text.substr(plus + 1).starts_with('-');
  if (plus != std::string_view::npos) {
    const std::optional<std::uint64_t> step = read_step(text.substr(plus + 1));
    if (!step) {
      return error(name, fmt::format("expected a step such as +1 or +-16, found '{}'", text.substr(plus)));
    }
    rule.step = *step;
    text = text.substr(0, plus);
  }
  if (text.find(kTo) != std::string_view::npos) {
    if (const SpecResult<void> read = numbers->read_range(text, rule); !read) return tl::unexpected(read.error());
    if (is_down) return error(name, "a range has no negative step; use START+-N");
    return rule;
  }
  rule.bounded = false;
  rule.start = text;
  const std::optional<std::string> present = text.empty() ? spec.get(name) : std::string{text};
  const SpecResult<std::uint64_t> first = numbers->read(present == "auto" ? "" : present.value_or(""));
  if (!first) return tl::unexpected(first.error());
  rule.first = *first;
  rule.last = numbers->max();
  // The length of a payload is not a field with bits to wrap around in.
  if (name == "payload_length") return error(name, "expected a range such as 0..1024+4");
  return rule;
}

[[nodiscard]] SpecResult<ValueRule> read_list(const PacketSpec& spec, const std::string& name, std::string_view text) {
  ValueRule rule;
  rule.kind = ValueRule::Kind::list;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    PacketSpec trial = spec;
    const std::string_view item = rest.substr(0, end);
    if (item.empty()) return error(name, fmt::format("a value of the list '{}' is empty", text));
    if (const SpecResult<void> set = trial.set(name, item); !set) return tl::unexpected(set.error());
    rule.texts.emplace_back(item);
    if (end == rest.size()) return rule;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

SpecResult<ValueRule> ValueRule::read(const PacketSpec& spec, const std::string& name, std::string_view text) {
  PacketSpec trial = spec;
  const SpecResult<void> set = trial.set(name, text);
  if (set) {
    ValueRule rule;
    rule.texts.emplace_back(text);
    return rule;
  }
  // For an unknown name no rule is right.
  const bool is_known = spec.get(name).has_value();
  if (!is_known || text.empty()) return tl::unexpected(set.error());
  if (text == kRandom || text.starts_with(std::string{kRandom} + ':')) return read_random(spec, name, text);
  if (text.find('/') != std::string_view::npos) return read_list(spec, name, text);
  if (text.find('+') != std::string_view::npos || text.find(kTo) != std::string_view::npos) {
    return read_count(spec, name, text);
  }
  return tl::unexpected(SpecError{
      name, set.error().message + "; or a rule: A/B/C in turn, LO..HI+N or START+N counting, rand or rand:LO..HI"});
}

NumberSequence::NumberSequence(const ValueRule& rule, std::uint64_t seed)
    : kind_(rule.kind),
      first_(rule.first),
      span_(rule.last - rule.first),
      step_(rule.step),
      bounded_(rule.bounded),
      random_(seed) {}

std::uint64_t NumberSequence::next() {
  if (kind_ == ValueRule::Kind::random) {
    const std::uint64_t number = random_();
    if (span_ == ~std::uint64_t{0}) return number;
    // The high half of a product: as even as a remainder, and without a division.
    __extension__ using Wide = unsigned __int128;
    return first_ + static_cast<std::uint64_t>(static_cast<Wide>(number) * (span_ + 1) >> 64U);
  }
  const std::uint64_t value = first_ + offset_;
  offset_ = bounded_ && step_ > span_ - offset_ ? 0 : offset_ + step_;
  return value;
}

}  // namespace roce::gen
