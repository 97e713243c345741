// SPDX-License-Identifier: BSD-2-Clause
#include "text/progress.h"

#include <fmt/core.h>

#include <cstdio>

#include "text/text_buffer.h"

namespace roce::text {

Progress::Progress(bool enabled, const std::string& file, std::uint64_t size_bytes)
    : size_(size_bytes), shown_(enabled && size_bytes >= 64U << 20) {
  TextBuffer name;
  append_printable(name, file);
  file_ = fmt::to_string(name);
}

void Progress::update(std::uint64_t position_bytes, std::uint64_t packets) {
  if (!shown_) return;
  const std::uint64_t percent = position_bytes / (size_ / 100);
  if (percent == percent_) return;
  percent_ = percent;
  drawn_ = true;
  fmt::print(stderr, "\r{}: {} % of {} MiB, {} packets\033[K", file_, percent, size_ >> 20, packets);
  static_cast<void>(std::fflush(stderr));
}

void Progress::clear() {
  if (!drawn_) return;
  drawn_ = false;
  percent_ = 101;
  fmt::print(stderr, "\r\033[K");
  static_cast<void>(std::fflush(stderr));
}

}  // namespace roce::text
