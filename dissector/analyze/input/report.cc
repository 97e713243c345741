// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/report.h"

#include <cstdio>

#include "text/text_buffer.h"

namespace roce::analyze {

void report(std::string_view text) {
  text::TextBuffer line;
  text::append(line, "roce-analyze: ");
  text::append_printable(line, text);
  line.push_back('\n');
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace roce::analyze
