// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/capture_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "packet_text/time_text.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// Pieces of a ring buffer may overlap by as much as the threads that fill it are apart.
bool begins_after(const FileSet& set, std::optional<std::int64_t> time_ns) {
  constexpr std::int64_t kMostOverlap = 10'000'000;
  constexpr std::int64_t kShare = 100;
  if (!time_ns || !set.last_ns || !set.first_ns) return true;
  return *time_ns >= *set.last_ns - std::min(kMostOverlap, (*set.last_ns - *set.first_ns) / kShare);
}

std::string_view file_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

std::string_view without_extensions(std::string_view name) {
  constexpr std::array<std::string_view, 6> kExtensions{".gz", ".zst", ".pcapng", ".pcap", ".cap", ".ntar"};
  for (const std::string_view extension : kExtensions) {
    if (name.size() > extension.size() && name.ends_with(extension)) name.remove_suffix(extension.size());
  }
  return name;
}

std::string time_text(std::int64_t ns) {
  text::TextBuffer text;
  packet_text::UtcText{}.append(text, ns, 6);
  return fmt::to_string(text);
}

}  // namespace

std::string without_numbers(std::string_view path) {
  // Each run of digits is replaced by one character that no path contains.
  std::string pattern;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!is_digit(path[i])) {
      pattern.push_back(path[i]);
    } else if (i == 0 || !is_digit(path[i - 1])) {
      pattern.push_back('\0');
    }
  }
  // `tcpdump -C` adds a number to the names of all files but the first.
  if (pattern.ends_with('\0')) pattern.pop_back();
  return pattern;
}

std::string interface_key(std::span<const link::CaptureInterface> interfaces, std::uint32_t interface) {
  if (interface >= interfaces.size()) return "#0";
  const link::CaptureInterface& described = interfaces[interface];
  if (!described.name.empty()) return described.name;
  const auto first = std::find_if(interfaces.begin(), interfaces.end(), [&](const link::CaptureInterface& each) {
    return each.section == described.section;
  });
  return fmt::format("#{}", interface - static_cast<std::uint32_t>(first - interfaces.begin()));
}

CapturePoints::CapturePoints(std::vector<CapturePoint> points, std::vector<FileSet> sets)
    : points_(std::move(points)), sets_(std::move(sets)) {}

void CapturePoints::begin_file(std::string_view path, std::string_view given_name) {
  path_ = path;
  given_name_ = given_name;
  set_.reset();
  of_interface_.clear();
  overlap_.reset();
}

std::optional<std::uint32_t> CapturePoints::set_that_continues(std::optional<std::int64_t> time_ns) const {
  const std::string pattern = without_numbers(path_);
  std::optional<std::uint32_t> best;
  std::size_t best_common = 0;
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    const FileSet& set = sets_[i];
    if (!given_name_.empty() || !set.given_name.empty()) {
      if (set.given_name == given_name_) return i;
      continue;
    }
    if (without_numbers(set.last_path) != pattern || !begins_after(set, time_ns)) continue;
    // Several hosts may each have a ring buffer: the one with the most similar name goes on.
    const std::size_t common = common_prefix(set.last_path, path_);
    if (best && common < best_common) continue;
    best = i;
    best_common = common;
  }
  return best;
}

void CapturePoints::choose_set(std::optional<std::int64_t> time_ns) {
  set_ = set_that_continues(time_ns);
  if (!set_) {
    set_ = static_cast<std::uint32_t>(sets_.size());
    sets_.push_back({given_name_, path_, path_, time_ns, time_ns});
    return;
  }
  FileSet& set = sets_[*set_];
  if (!begins_after(set, time_ns)) {
    overlap_ = fmt::format(
        "{} begins at {}, {} before the end of {}: of the point '{}' both cannot be pieces, so that its verdicts may "
        "be wrong; give each a --point of its own",
        path_, time_text(*time_ns), text::duration_text(*set.last_ns - *time_ns), set.last_path, set.given_name);
  }
  set.last_path = path_;
  set.first_ns = time_ns;
}

void CapturePoints::end_file(std::optional<std::int64_t> last_ns) {
  if (!set_ || !last_ns) return;
  std::optional<std::int64_t>& last = sets_[*set_].last_ns;
  last = std::max(last.value_or(bounded(*last_ns)), bounded(*last_ns));
}

std::string CapturePoints::name_for(const FileSet& set, std::string_view interface) const {
  if (!set.given_name.empty()) return set.given_name;
  const std::string suffix = interface.empty() ? "" : fmt::format(":{}", interface);
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(points_.begin(), points_.end(), [&](const CapturePoint& each) { return each.name == name; });
  };
  std::string name = fmt::format("{}{}", without_extensions(file_name(set.first_path)), suffix);
  if (is_taken(name)) name = set.first_path + suffix;
  for (int i = 2; is_taken(name); ++i) name = fmt::format("{}{} ({})", set.first_path, suffix, i);
  return name;
}

std::uint16_t CapturePoints::find(std::span<const link::CaptureInterface> interfaces, std::uint32_t interface,
                                  std::optional<std::int64_t> time_ns) {
  if (interface < of_interface_.size() && of_interface_[interface] != kUnknown) return of_interface_[interface];
  if (!set_) choose_set(time_ns);
  const FileSet& set = sets_[*set_];
  const std::string key = set.given_name.empty() ? interface_key(interfaces, interface) : std::string{};
  auto found = std::find_if(points_.begin(), points_.end(), [&](const CapturePoint& point) {
    return point.file_set == *set_ && point.interface == key;
  });
  if (found == points_.end() && points_.size() < kMost) {
    CapturePoint point;
    // The number of an interface tells nothing where there is only one.
    point.name = name_for(set, interfaces.size() > 1 || key != "#0" ? std::string_view{key} : std::string_view{});
    point.file_set = *set_;
    point.interface = key;
    points_.push_back(std::move(point));
    found = points_.end() - 1;
  }
  if (found == points_.end()) --found;
  const auto number = static_cast<std::uint16_t>(found - points_.begin());
  // A damaged file may number its interfaces as it likes.
  constexpr std::uint32_t kRemembered = 65'536;
  if (interface < kRemembered) {
    if (interface >= of_interface_.size()) of_interface_.resize(interface + std::size_t{1}, kUnknown);
    of_interface_[interface] = number;
  }
  return number;
}

}  // namespace roce::analyze
