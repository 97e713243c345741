// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/filter_fields.h"

#include <algorithm>
#include <utility>

#include "command_line/spelling.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kPrefix = "roce.";

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

FieldId FieldCatalogue::add(FilterField field) {
  fields_.push_back(std::move(field));
  return static_cast<FieldId>(fields_.size() - 1);
}

std::optional<FieldId> FieldCatalogue::find(std::string_view name) const {
  const auto place = [&](std::string_view wanted) -> std::optional<FieldId> {
    const auto found =
        std::find_if(fields_.begin(), fields_.end(), [&](const FilterField& field) { return field.name == wanted; });
    if (found == fields_.end()) return std::nullopt;
    return static_cast<FieldId>(found - fields_.begin());
  };
  const std::optional<FieldId> id = place(name);
  return id || !name.starts_with(kPrefix) ? id : place(name.substr(kPrefix.size()));
}

std::vector<std::string> FieldCatalogue::nearest(std::string_view name) const {
  // An additional or missing prefix hides an otherwise right name, so the rest of the name decides.
  std::vector<command_line::Candidate> candidates;
  for (const FilterField& field : fields_) {
    std::size_t distance = command_line::edit_distance(name, field.name);
    if (name.size() > field.name.size() && name.ends_with(field.name) &&
        name[name.size() - field.name.size() - 1] == '.') {
      distance = 0;
    } else if (last_part(field.name) == last_part(name)) {
      distance = std::min<std::size_t>(distance, 1);
    }
    if (distance <= command_line::most_slips(name)) candidates.push_back({distance, field.name});
  }
  return command_line::nearest_of(std::move(candidates));
}

}  // namespace roce::analyze
