// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "command_line/outcome.h"
#include "roce/link/output_file.h"

namespace roce::page {

/// The file of a page. It is begun before there is anything to show, so that a folder that cannot be written costs no
/// time, and has its name only when it is whole (see link::OutputFile).
class PageFile {
 public:
  /// Error: one sentence.
  [[nodiscard]] static tl::expected<PageFile, std::string> create(const std::string& path);
  /// Writes the page and ends the file. Error: one sentence, and nothing is left of it.
  [[nodiscard]] tl::expected<void, std::string> write(std::string_view page);

 private:
  explicit PageFile(link::OutputFile file) : file_(std::move(file)) {}

  link::OutputFile file_;
};

/// Begins the file of `--report`; nothing for an empty path. Failures: this build has no pages, or the path is `-`
/// (wrong command line); the file cannot be written.
[[nodiscard]] Outcome<std::optional<PageFile>> open_report(const std::string& path);

}  // namespace roce::page
