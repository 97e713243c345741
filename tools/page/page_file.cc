// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_file.h"

#include <span>
#include <utility>

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

}  // namespace roce::page
