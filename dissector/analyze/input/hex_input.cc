// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/hex_input.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace roce::analyze {

namespace {

using Frame = std::vector<std::byte>;
using Frames = std::vector<Frame>;
using Failure = tl::unexpected<std::string>;

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Removes white space from the start of `text` and returns its width; a tab is as wide as a gap between columns.
std::size_t take_blanks(std::string_view& text) {
  std::size_t width = 0;
  for (; !text.empty() && is_blank(text.front()); text.remove_prefix(1)) width += text.front() == '\t' ? 8 : 1;
  return width;
}

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

void push_digits(Frame& frame, std::string_view digits) {
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    frame.push_back(static_cast<std::byte>(*digit(digits[i]) << 4 | *digit(digits[i + 1])));
  }
}

/// Returns the quotation for an error: the start of the offending text, without white space and control characters.
std::string excerpt(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 20)) {
    if (is_blank(c)) break;
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  }
  return out + "'";
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// The offset at the start of a line of a dump.
struct Offset {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  bool is_marked = false;    ///< a colon follows, so this cannot be anything else
  std::size_t gap = 0;       ///< width of the white space after it
  std::string_view content;  ///< the rest of the line
};

std::optional<Offset> read_offset(std::string_view line) {
  Offset offset;
  take_blanks(line);
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  const std::string_view digits = take_digits(line);
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kMost = 16;
  if (digits.size() < kFewest || digits.size() > kMost) return std::nullopt;
  for (const char c : digits) offset.value = offset.value << 4 | *digit(c);
  offset.digits = digits.size();
  offset.is_marked = line.starts_with(':');
  if (offset.is_marked) line.remove_prefix(1);
  if (!line.empty() && !is_blank(line.front())) return std::nullopt;
  offset.gap = take_blanks(line);
  offset.content = line;
  return offset;
}

/// True if the text is a dump with offsets: the first offset is 0, and either cannot be data or is followed by an
/// offset that fits.
bool has_offsets(const std::vector<std::string_view>& lines) {
  bool found_first = false;
  for (const std::string_view line : lines) {
    const std::optional<Offset> offset = read_offset(line);
    if (!offset) continue;
    if (found_first) return offset->value > 0 && offset->value <= 64;
    if (offset->value != 0) return false;
    std::string_view content = offset->content;
    if (offset->is_marked || offset->gap > 1 || take_digits(content).size() < offset->digits) return true;
    found_first = true;
  }
  return false;
}

/// Appends the bytes of one line of a dump, without the text column.
tl::expected<void, std::string> read_row(std::string_view content, std::size_t line_number, Frame& frame) {
  // hexdump -C leaves a wider gap in the middle of its 16 bytes.
  constexpr std::size_t kHalfRow = 8;
  std::size_t bytes = 0;
  bool single_bytes = true;
  while (!content.empty()) {
    const std::string_view rest = content;
    const std::string_view digits = take_digits(content);
    if (digits.empty() || digits.size() % 2 != 0 || (!content.empty() && !is_blank(content.front()))) {
      return Failure{fmt::format("line {}: expected pairs of hex digits, found {}", line_number, excerpt(rest))};
    }
    push_digits(frame, digits);
    bytes += digits.size() / 2;
    single_bytes = single_bytes && digits.size() == 2;
    const std::size_t gap = take_blanks(content);
    if (gap < 2) continue;
    const bool may_be_middle = gap == 2 && bytes == kHalfRow && single_bytes;
    if (!may_be_middle || content.empty() || !digit(content.front())) return {};
  }
  return {};
}

tl::expected<Frames, std::string> read_dump(const std::vector<std::string_view>& lines) {
  Frames frames;
  std::size_t row_start = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<Offset> offset = read_offset(lines[i]);
    if (!offset) continue;
    if (offset->value == 0) {
      frames.emplace_back();
    } else if (frames.empty()) {
      return Failure{fmt::format("line {}: expected offset 0, found {:#x}", i + 1, offset->value)};
    }
    Frame& frame = frames.back();
    // Part of the text column of the line before may have been read as digits: the offset shows how many bytes it had.
    if (offset->value < frame.size() && offset->value > row_start) frame.resize(offset->value);
    if (offset->value != frame.size()) {
      return Failure{fmt::format("line {}: expected offset {:#x}, found {:#x}; paste all lines of the frame, in order",
                                 i + 1, frame.size(), offset->value)};
    }
    row_start = frame.size();
    if (auto done = read_row(offset->content, i + 1, frame); !done) return Failure{done.error()};
  }
  return frames;
}

/// Removes the separators that may stand between groups of digits.
void take_separators(std::string_view& text) {
  constexpr std::string_view kSeparators = " \t\r:-.,;\"'{}[]()";
  text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
}

tl::expected<Frames, std::string> read_plain(const std::vector<std::string_view>& lines) {
  Frames frames;
  bool in_frame = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view rest = lines[i];
    std::string_view blank = rest;
    take_blanks(blank);
    if (blank.empty()) in_frame = false;
    for (take_separators(rest); !rest.empty(); take_separators(rest)) {
      const std::string_view here = rest;
      const bool is_marked = rest.starts_with("0x") || rest.starts_with("0X") || rest.starts_with("\\x");
      if (is_marked) rest.remove_prefix(2);
      const std::string_view digits = take_digits(rest);
      if (digits.empty()) {
        return Failure{fmt::format("line {}: expected hex digits, found {}", i + 1, excerpt(here))};
      }
      if (digits.size() % 2 != 0 && !(is_marked && digits.size() == 1)) {
        return Failure{fmt::format("line {}: expected pairs of hex digits, found {} of them in {}", i + 1,
                                   digits.size(), excerpt(digits))};
      }
      if (!in_frame) frames.emplace_back();
      in_frame = true;
      if (digits.size() == 1) {
        frames.back().push_back(static_cast<std::byte>(*digit(digits[0])));
      } else {
        push_digits(frames.back(), digits);
      }
    }
  }
  return frames;
}

}  // namespace

tl::expected<Frames, std::string> parse_hex_frames(std::string_view text) {
  const std::vector<std::string_view> lines = split_lines(text);
  tl::expected<Frames, std::string> frames = has_offsets(lines) ? read_dump(lines) : read_plain(lines);
  if (!frames) return frames;
  std::erase_if(*frames, [](const Frame& frame) { return frame.empty(); });
  if (frames->empty()) return Failure{"expected a frame as hex digits, found nothing"};
  return frames;
}

}  // namespace roce::analyze
