// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/instance.h"

#include <fmt/format.h>

#include <algorithm>

namespace roce::conform {

namespace {

constexpr std::size_t kMostInstances = 100'000;

/// The parameters alone, which is all that `when` may use.
class ParameterScope final : public Scope {
 public:
  explicit ParameterScope(const Instance& instance) : instance_(instance) {}
  [[nodiscard]] std::optional<Value> find(std::string_view name) const override { return instance_.find(name); }

 private:
  const Instance& instance_;
};

}  // namespace

std::string Instance::name() const {
  std::string text = of->id;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", &value == &parameters[0].second ? '[' : ',', name, value.text);
  if (!parameters.empty()) text += ']';
  return text;
}

std::uint64_t Instance::seed(std::uint64_t run_seed) const {
  // FNV-1a: std::hash may differ from one standard library to another.
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U ^ run_seed;
  for (const char c : name()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return hash;
}

std::optional<Value> Instance::find(std::string_view name) const {
  const std::string_view whole = name.substr(0, name.find('.'));
  const auto parameter = std::ranges::find(parameters, whole, &decltype(parameters)::value_type::first);
  if (parameter == parameters.end()) return std::nullopt;
  const ParameterValue& value = parameter->second;
  if (whole.size() == name.size()) return value.members.empty() ? value.value : Value::word(value.text);
  for (const auto& [member, of_member] : value.members) {
    if (member == name.substr(whole.size() + 1)) return of_member;
  }
  return std::nullopt;
}

CaseResult<std::vector<Instance>> expand(const Case& one) {
  std::size_t combinations = 1;
  for (const Parameter& parameter : one.parameters) {
    combinations *= parameter.values.size();
    if (combinations > kMostInstances) {
      return tl::unexpected(
          CaseError{one.place, fmt::format("more than {} combinations of parameters", kMostInstances)});
    }
  }
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < combinations; ++i) {
    Instance instance{.of = &one, .parameters = {}};
    std::size_t rest = i;
    std::size_t block = combinations;
    for (const Parameter& parameter : one.parameters) {
      block /= parameter.values.size();
      instance.parameters.emplace_back(parameter.name, parameter.values[rest / block]);
      rest %= block;
    }
    if (one.when) {
      const Evaluated<Value> exists = one.when->evaluate(ParameterScope{instance});
      if (!exists) return tl::unexpected(CaseError{one.place, "when: " + exists.error()});
      if (!exists->is_true()) continue;
    }
    instances.push_back(std::move(instance));
  }
  if (instances.empty()) return tl::unexpected(CaseError{one.place, "when is true for no combination of parameters"});
  return instances;
}

}  // namespace roce::conform
