// SPDX-License-Identifier: BSD-2-Clause
// One HTML file of our components and a program's data.
#include "page/page.h"

#include "page/template.h"

namespace roce::page {

namespace {

constexpr std::string_view kPlace = "@data@";

}  // namespace

std::optional<std::string_view> why_unavailable() {
  if (template_text().find(kPlace) != std::string_view::npos) return std::nullopt;
  return "this build has no --report: run scripts/setup report and build again";
}

std::string escape_for_script(std::string_view json) {
  // In JSON these occur only in strings. U+2028 and U+2029 end lines of JavaScript, but not of JSON.
  constexpr std::string_view kSeparators = "\xE2\x80";
  std::string escaped;
  escaped.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '<') {
      escaped += "\\u003c";
    } else if (json.substr(i, 2) == kSeparators && i + 2 < json.size() &&
               (json[i + 2] == '\xA8' || json[i + 2] == '\xA9')) {
      escaped += json[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      escaped += json[i];
    }
  }
  return escaped;
}

std::string make_page(std::string_view json) {
  const std::string_view page = template_text();
  const std::size_t place = page.find(kPlace);
  std::string whole{page.substr(0, place)};
  whole += escape_for_script(json);
  whole += page.substr(place + kPlace.size());
  return whole;
}

}  // namespace roce::page
