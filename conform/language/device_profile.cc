// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/device_profile.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "conform/language/source_node.h"

namespace roce::conform {

namespace {

CaseResult<void> read_time(std::optional<Duration>& to, const Member& member) {
  const CaseResult<Expression> expression = read_expression(member.value, member.name);
  if (!expression) return tl::unexpected(expression.error());
  const Evaluated<std::uint64_t> nanoseconds = expression->number(NoNames{});
  constexpr std::uint64_t most = 60'000'000'000;
  if (!nanoseconds || *nanoseconds > most) {
    return member.value.error(fmt::format("{}: expected a time of at most 60s, such as 30ms", member.name));
  }
  to = Duration{static_cast<std::int64_t>(*nanoseconds)};
  return {};
}

CaseResult<void> read_timing(DeviceProfile& profile, const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "the times of a device");
  if (!members) return tl::unexpected(members.error());
  for (const Member& member : *members) {
    std::optional<Duration>* to = nullptr;
    if (member.name == "answer") to = &profile.answer;
    if (member.name == "quiet") to = &profile.quiet;
    if (member.name == "early") to = &profile.early;
    if (member.name == "late") to = &profile.late;
    if (to == nullptr) return unknown_member(member, "time", {"answer", "quiet", "early", "late"});
    if (CaseResult<void> read = read_time(*to, member); !read) return read;
  }
  return {};
}

CaseResult<std::vector<std::string>> read_patterns(const Member& member) {
  const CaseResult<std::vector<SourceNode>> items = read_items(member.value);
  if (!items) return tl::unexpected(items.error());
  std::vector<std::string> patterns;
  for (const SourceNode& item : *items) {
    CaseResult<std::string> text = read_text(item, member.name);
    if (!text) return tl::unexpected(text.error());
    patterns.push_back(std::move(*text));
  }
  return patterns;
}

CaseResult<KnownDeviation> read_deviation(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "a deviation");
  if (!members) return tl::unexpected(members.error());
  KnownDeviation deviation{.place = node.place()};
  for (const Member& member : *members) {
    if (member.name == "instances") {
      CaseResult<std::vector<std::string>> patterns = read_patterns(member);
      if (!patterns) return tl::unexpected(patterns.error());
      deviation.instances = std::move(*patterns);
      continue;
    }
    std::string* const to = member.name == "seen"      ? &deviation.seen
                            : member.name == "because" ? &deviation.because
                                                       : nullptr;
    if (to == nullptr) return unknown_member(member, "member", {"instances", "seen", "because"});
    CaseResult<std::string> text = read_text(member.value, member.name);
    if (!text) return tl::unexpected(text.error());
    *to = std::move(*text);
  }
  if (deviation.instances.empty()) return node.error("a deviation needs instances: which they are");
  if (deviation.seen.empty()) return node.error("a deviation needs seen: a part of what is said of it");
  if (deviation.because.empty()) return node.error("a deviation needs because: why the device does so");
  return deviation;
}

CaseResult<void> read_deviations(DeviceProfile& profile, const SourceNode& node) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return tl::unexpected(items.error());
  for (const SourceNode& item : *items) {
    CaseResult<KnownDeviation> deviation = read_deviation(item);
    if (!deviation) return tl::unexpected(deviation.error());
    profile.deviations.push_back(std::move(*deviation));
  }
  return {};
}

CaseResult<void> read_part(DeviceProfile& profile, const Member& member) {
  if (member.name == "timing") return read_timing(profile, member.value);
  if (member.name == "deviations") return read_deviations(profile, member.value);
  if (member.name == "may_stop") {
    CaseResult<std::vector<std::string>> patterns = read_patterns(member);
    if (!patterns) return tl::unexpected(patterns.error());
    profile.may_stop = std::move(*patterns);
    return {};
  }
  if (member.name != "device") return unknown_member(member, "member", {"device", "timing", "may_stop", "deviations"});
  CaseResult<std::string> text = read_text(member.value, member.name);
  if (!text) return tl::unexpected(text.error());
  profile.device = std::move(*text);
  return {};
}

}  // namespace

CaseResult<DeviceProfile> read_device_profile(const std::string& path) {
  const CaseResult<std::string> text = read_source_text(path);
  if (!text) return tl::unexpected(text.error());
  const CaseResult<SourceNode> root = read_source(path, *text);
  if (!root) return tl::unexpected(root.error());
  const CaseResult<std::vector<Member>> members = read_members(*root, "a kind of device");
  if (!members) return tl::unexpected(members.error());
  DeviceProfile profile{.place = root->place()};
  for (const Member& member : *members) {
    if (CaseResult<void> read = read_part(profile, member); !read) return tl::unexpected(read.error());
  }
  if (profile.device.empty()) return root->error("a profile needs device: its name");
  return profile;
}

bool fits_any(const std::vector<std::string>& patterns, const Instance& instance) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return fits_pattern(pattern, instance.of->id) || fits_pattern(pattern, instance.name());
  });
}

bool fits_pattern(const std::string& pattern, const std::string& name) {
  std::string literal;
  for (const char c : pattern) {
    if (c == '[' || c == ']' || c == '\\') literal += '\\';
    literal += c;
  }
  return fnmatch(literal.c_str(), name.c_str(), 0) == 0;
}

}  // namespace roce::conform
