// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/html_report.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "conform/report/embedded_texts.h"
#include "conform/report/markup.h"
#include "conform/report/page_parts.h"

namespace roce::conform {

tl::expected<std::string, std::string> to_html(const RunResult& result, const std::optional<ResultChanges>& changes) {
  tl::expected<std::string, std::string> failures = failure_articles(result);
  if (!failures) return failures;
  const std::array<std::pair<std::string_view, std::string>, 8> parts{
      {{"device", markup_text(result.tested.device)},
       {"headline", markup_text(headline(count_all(result)))},
       {"tested", tested_rows(result.tested)},
       {"changes", changes_section(changes)},
       {"matrix", matrix(result)},
       {"failures", std::move(*failures)},
       {"not_judged", not_judged_section(result)},
       {"program", markup_text(result.tested.program)}}};
  std::string page;
  std::string_view rest = kPage;
  for (std::size_t mark = rest.find("{{"); mark != std::string_view::npos; mark = rest.find("{{")) {
    page += rest.substr(0, mark);
    rest.remove_prefix(mark + 2);
    const std::size_t end = rest.find("}}");
    for (const auto& [name, content] : parts) {
      if (rest.substr(0, end) == name) page += content;
    }
    rest.remove_prefix(end + 2);
  }
  page += rest;
  return page;
}

}  // namespace roce::conform
