// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_file.h"

#include <span>
#include <utility>

#include "page/page.h"

namespace roce::page {

tl::expected<PageFile, std::string> PageFile::create(const std::string& path) {
  link::Result<link::OutputFile> file = link::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error().message);
  return PageFile{std::move(*file)};
}

tl::expected<void, std::string> PageFile::write(std::string_view page) {
  const link::Result<void> ended = file_.write(std::as_bytes(std::span{page})).and_then([&] { return file_.close(); });
  if (!ended) return tl::unexpected(ended.error().message);
  return {};
}

Outcome<std::optional<PageFile>> open_report(const std::string& path) {
  if (path.empty()) return std::nullopt;
  if (const auto why = why_unavailable()) return cannot(std::string{*why});
  if (path == "-") return cannot("--report takes the name of a file: standard output has the result");
  tl::expected<PageFile, std::string> file = PageFile::create(path);
  if (!file) return failed(file.error());
  return std::move(*file);
}

}  // namespace roce::page
