// SPDX-License-Identifier: BSD-2-Clause
// One HTML file of our components and a program's data.
#include "page/page.h"

#include <algorithm>

#include "page/template.h"

namespace roce::page {

namespace {

constexpr std::string_view kPlace = "@data@";
constexpr std::string_view kReachPlace = "@reach@";  // in the policy, before all text that others wrote

}  // namespace

std::optional<std::string_view> why_unavailable() {
  if (template_text(Kind::capture).find(kPlace) != std::string_view::npos) return std::nullopt;
  return "this build has no --report: run scripts/setup report and build again";
}

std::string escape_for_script(std::string_view json) {
  // In JSON these occur only in strings. U+2028 and U+2029 end lines of JavaScript, but not of JSON.
  std::string escaped;
  escaped.reserve(json.size());
  const auto has_mark = [](char c) { return c == '<' || c == '\xE2'; };
  std::size_t begin = 0;
  for (auto at = std::ranges::find_if(json, has_mark); at != json.end();
       at = std::find_if(at + 1, json.end(), has_mark)) {
    const auto place = static_cast<std::size_t>(at - json.begin());
    const std::string_view mark = json.substr(place, 3);
    std::string_view escape;
    if (*at == '<') escape = "\\u003c";
    if (mark == "\xE2\x80\xA8") escape = "\\u2028";
    if (mark == "\xE2\x80\xA9") escape = "\\u2029";
    if (escape.empty()) continue;
    escaped += json.substr(begin, place - begin);
    escaped += escape;
    begin = place + (*at == '<' ? 1 : mark.size());
  }
  escaped += json.substr(begin);
  return escaped;
}

std::string make_page(Kind kind, std::string_view json, Reach reach) {
  const std::string_view page = template_text(kind);
  const std::size_t policy = page.find(kReachPlace);
  const std::size_t rest = policy + kReachPlace.size();
  const std::size_t place = page.find(kPlace);
  std::string whole{page.substr(0, policy)};
  if (reach == Reach::own_server) whole += "; connect-src 'self'";
  whole += page.substr(rest, place - rest);
  whole += escape_for_script(json);
  whole += page.substr(place + kPlace.size());
  return whole;
}

}  // namespace roce::page
