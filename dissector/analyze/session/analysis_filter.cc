// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/session/analysis_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "analyze/filter/wire_fields.h"

namespace roce::analyze {

namespace {

using analysis::PacketRole;
using analysis::VerdictKind;

enum class Field : std::uint8_t {
  stream,
  direction,
  role,
  relative_psn,
  message,
  since_last,
  latency,
  request,
  response,
  verdict,
  cause,
  rule,
  spurious,
  count,  ///< the number of fixed fields; the fields after them are the verdicts, in their order
};

constexpr std::size_t kVerdicts = static_cast<std::size_t>(VerdictKind::count);
constexpr std::size_t kCauses = static_cast<std::size_t>(analysis::Cause::corrupted) + 1;
constexpr std::size_t kRules = static_cast<std::size_t>(analysis::Rule::count);
static_assert(kVerdicts <= 64 && kRules <= 64);

constexpr std::array kRoleNames{ValueName{0, "other"},    ValueName{1, "request"}, ValueName{2, "response"},
                                ValueName{3, "datagram"}, ValueName{4, "cnp"},     ValueName{5, "management"}};

std::span<const ValueName> verdict_names() {
  static const auto names = [] {
    std::array<ValueName, kVerdicts> all{};
    for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
      all[static_cast<std::size_t>(info.kind)] = {static_cast<std::uint64_t>(info.kind), info.name};
    }
    return all;
  }();
  return names;
}

std::span<const ValueName> cause_names() {
  static const auto names = [] {
    std::array<ValueName, kCauses - 1> all{};
    for (std::size_t i = 1; i < kCauses; ++i) all[i - 1] = {i, to_string(static_cast<analysis::Cause>(i))};
    return all;
  }();
  return names;
}

std::span<const ValueName> rule_names() {
  static const auto names = [] {
    std::array<ValueName, kRules - 1> all{};
    for (const analysis::RuleInfo& info : analysis::rule_infos()) {
      all[static_cast<std::size_t>(info.rule) - 1] = {static_cast<std::uint64_t>(info.rule), info.identifier};
    }
    return all;
  }();
  return names;
}

/// The fields of packets, followed by those of the analysis.
struct Catalogue {
  FieldCatalogue fields = wire_catalogue();
  FieldId first = static_cast<FieldId>(fields.size());

  Catalogue() {
    add("stream", FieldType::number);
    add("direction", FieldType::number);
    add("role", FieldType::number, kRoleNames);
    add("relative_psn", FieldType::integer);
    add("message", FieldType::number);
    add("since_last", FieldType::duration);
    add("latency", FieldType::duration);
    add("request", FieldType::number);
    add("response", FieldType::number);
    add("verdict", FieldType::number, verdict_names());
    add("cause", FieldType::number, cause_names());
    add("rule", FieldType::number, rule_names());
    add("spurious", FieldType::boolean);
    for (const ValueName& verdict : verdict_names()) add(verdict.name, FieldType::boolean);
  }

 private:
  void add(std::string_view name, FieldType type, std::span<const ValueName> names = {}) {
    fields.add({fmt::format("roce.analysis.{}", name), type, names});
  }
};

const Catalogue& catalogue() {
  static const Catalogue catalogue;
  return catalogue;
}

bool is_known_later(FieldId id) {
  if (id < catalogue().first) return false;
  const std::size_t index = id - catalogue().first;
  constexpr auto kFixed = static_cast<std::size_t>(Field::count);
  if (index >= kFixed) {
    return verdict_info(static_cast<VerdictKind>(index - kFixed)).time == analysis::VerdictTime::retrospective;
  }
  const auto field = static_cast<Field>(index);
  return field == Field::latency || field == Field::response || field == Field::verdict || field == Field::cause;
}

/// Returns the position of the `index`th bit among those that are set; nothing if fewer are set.
std::optional<FilterValue> set_bit(std::uint64_t bits, std::size_t index) {
  for (; bits != 0; bits &= bits - 1) {
    if (index-- == 0) return static_cast<std::uint64_t>(std::countr_zero(bits));
  }
  return std::nullopt;
}

class AnalysisValues final : public FieldValues {
 public:
  AnalysisValues(const AnalysedPacket& packet, const LaterFacts* later) : packet_(packet) {
    if (later != nullptr) facts_ = later->find(packet.observation.id);
    for (const analysis::Verdict& verdict : packet.analysis.verdicts) {
      facts_.verdicts |= std::uint64_t{1} << static_cast<unsigned>(verdict.kind);
      facts_.causes = static_cast<std::uint16_t>(facts_.causes | 1U << static_cast<unsigned>(verdict.cause));
      rules_ |= std::uint64_t{1} << static_cast<unsigned>(verdict.rule);
      is_spurious_ = is_spurious_ || verdict.spurious;
    }
  }

  [[nodiscard]] std::optional<FilterValue> value(FieldId id, std::size_t index) const override {
    const std::size_t number = id - catalogue().first;
    constexpr auto kFixed = static_cast<std::size_t>(Field::count);
    const auto field = static_cast<Field>(std::min(number, kFixed));
    if (field == Field::verdict) return set_bit(facts_.verdicts, index);
    if (field == Field::cause) return set_bit(facts_.causes & ~1U, index);
    if (field == Field::rule) return set_bit(rules_ & ~std::uint64_t{1}, index);
    if (index != 0) return std::nullopt;
    if (field != Field::count) return single_value(field);
    return is_set(number - kFixed) ? std::optional<FilterValue>{true} : std::nullopt;
  }

 private:
  [[nodiscard]] bool is_set(std::size_t verdict) const { return (facts_.verdicts >> verdict & 1) != 0; }

  [[nodiscard]] std::optional<FilterValue> single_value(Field field) const {
    const analysis::PacketAnalysis& known = packet_.analysis;
    if (known.stream == analysis::kNoStream) return std::nullopt;
    const auto number = [](std::uint64_t value) {
      return value == 0 ? std::nullopt : std::optional<FilterValue>{value};
    };
    const bool in_channel = known.role == PacketRole::request || known.role == PacketRole::response;
    switch (field) {
      case Field::stream:
        return std::uint64_t{known.stream};
      case Field::direction:
        return std::uint64_t{known.direction};
      case Field::role:
        return static_cast<std::uint64_t>(known.role);
      case Field::relative_psn:
        return in_channel ? std::optional<FilterValue>{known.relative_psn} : std::nullopt;
      case Field::message:
        return number(known.message);
      case Field::since_last:
        return std::int64_t{known.since_last.count()};
      case Field::latency:
        if (known.request) return std::int64_t{known.latency.count()};
        return facts_.answer.response ? std::optional<FilterValue>{std::int64_t{facts_.answer.latency.count()}}
                                      : std::nullopt;
      case Field::request:
        return number(known.request.frame);
      case Field::response:
        return number(facts_.answer.response.frame);
      case Field::spurious:
        return is_spurious_ ? std::optional<FilterValue>{true} : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  const AnalysedPacket& packet_;
  LaterFacts::Facts facts_;
  std::uint64_t rules_ = 0;  ///< bit n: `Rule` n
  bool is_spurious_ = false;
};

}  // namespace

void PacketSet::insert(analysis::PacketId id) {
  if (id.segment != 0) {
    segments_.insert(id);
    return;
  }
  if (frames_.size() <= id.frame) frames_.resize(std::max<std::size_t>(id.frame + 1, frames_.size() * 2));
  frames_[id.frame] = true;
}

bool PacketSet::contains(analysis::PacketId id) const {
  if (id.segment != 0) return segments_.contains(id);
  return id.frame < frames_.size() && frames_[id.frame];
}

void PacketSet::clear() {
  frames_.clear();
  segments_.clear();
}

void LaterFacts::on_verdict(const analysis::Verdict& verdict) {
  if (verdict_info(verdict.kind).time != analysis::VerdictTime::retrospective || !verdict.packet) return;
  Facts& facts = facts_[verdict.packet];
  facts.verdicts |= std::uint64_t{1} << static_cast<unsigned>(verdict.kind);
  facts.causes = static_cast<std::uint16_t>(facts.causes | 1U << static_cast<unsigned>(verdict.cause));
}

void LaterFacts::on_answer(const analysis::Answer& answer) {
  facts_[answer.request].answer = answer;
}

LaterFacts::Facts LaterFacts::find(analysis::PacketId id) const {
  const auto found = facts_.find(id);
  return found == facts_.end() ? Facts{} : found->second;
}

tl::expected<AnalysisFilter, std::string> AnalysisFilter::compile(std::string_view expression) {
  auto filter = DisplayFilter::compile(expression, catalogue().fields);
  if (!filter) return tl::unexpected(fmt::format("-Y: {}", to_string(filter.error())));
  AnalysisFilter result;
  result.filter_ = *std::move(filter);
  const auto fields = result.filter_.fields();
  result.needs_later_ = std::any_of(fields.begin(), fields.end(), &is_known_later);
  return result;
}

bool AnalysisFilter::matches(const AnalysedPacket& packet, const LaterFacts* facts) const {
  if (filter_.passes_everything()) return true;
  const AnalysisValues others{packet, facts};
  return filter_.matches(PacketValues{packet.decoded, &others});
}

}  // namespace roce::analyze
