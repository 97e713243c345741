// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter_fields.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace roce::analyze {

namespace {

constexpr std::string_view kPrefix = "roce.";
constexpr std::size_t kSuggestions = 3;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Insertions, deletions, replacements and exchanges of neighbours that make `a` into `b`, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

struct Candidate {
  std::size_t distance;
  std::string_view name;
};

std::vector<std::string> best(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) {
    if (names.size() < kSuggestions) names.emplace_back(candidate.name);
  }
  return names;
}

/// How many wrong letters still look like a slip.
std::size_t most_slips(std::string_view wanted) {
  return std::max<std::size_t>(wanted.size() / 4, wanted.size() > 3 ? 2 : 1);
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
  // A prefix that other tools use, or none at all, hides an otherwise right name: then the rest decides.
  std::vector<Candidate> candidates;
  for (const FilterField& field : fields_) {
    std::size_t distance = edit_distance(name, field.name);
    if (name.size() > field.name.size() && name.ends_with(field.name) &&
        name[name.size() - field.name.size() - 1] == '.') {
      distance = 0;
    } else if (last_part(field.name) == last_part(name)) {
      distance = std::min<std::size_t>(distance, 1);
    }
    if (distance <= most_slips(name)) candidates.push_back({distance, field.name});
  }
  return best(std::move(candidates));
}

std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string_view> names) {
  std::vector<Candidate> candidates;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance <= most_slips(wanted)) candidates.push_back({distance, name});
  }
  return best(std::move(candidates));
}

}  // namespace roce::analyze
